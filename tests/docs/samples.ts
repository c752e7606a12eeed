// What becomes of each kind of block in a guide, decided by the words behind its fence alone:
//
//   sh                  runs in the shell of the guide, in order; every command must succeed
//   sh repeat           the same, again and again until the answer shown below comes
//   sh stopped          runs while the service is stopped
//   sh serve            starts a node, which must come to take traffic
//   sh parsed           would change the machine (npm ci): its syntax and its npm scripts are checked
//   LANGUAGE file.name  is saved under this name, for an sh block to run or read
//   json Schema         is valid by this schema of the OpenAPI document
//   json answer, text answer   what the sh block above printed; … stands for what differs each time
//   js browser          needs a browser: its syntax is checked
//   ini                 a unit of systemd: the service takes its variables
//   text                shown, as nothing can be run

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { parseConfig } from '../../src/config.ts'
import { buildOpenApi } from '../../src/contract/openapi.ts'
import type { Block } from './markdown.ts'

/** Of a language, which words may stand behind it. */
const knownWords: Readonly<Record<string, readonly string[]>> = {
  sh: ['repeat', 'stopped', 'serve', 'parsed'],
  js: ['browser'],
  json: ['answer'],
  text: ['answer'],
  ini: [],
  python: [],
  php: [],
  java: [],
}

const isFileName = (word: string) => /^[\w-]+\.\w+$/u.test(word)
const isSchemaName = (word: string) => /^[A-Z][A-Za-z]+$/u.test(word)

/** The name under which the guide lets its reader save the block, or null. */
export function fileNameOf(block: Block): string | null {
  return block.words.find(isFileName) ?? null
}

export function has(block: Block | undefined, word: string): boolean {
  return block?.words.includes(word) === true
}

/** Null if the test knows what to do with the block; else what is wrong with its fence. */
export function fenceFault({ file, line, language, words }: Block): string | null {
  const known = knownWords[language]
  if (known === undefined) return `${file}:${line}: unknown language "${language}"`
  const unknown = words.find(
    (word) =>
      !known.includes(word) && !isFileName(word) && !(language === 'json' && isSchemaName(word))
  )
  if (unknown !== undefined) return `${file}:${line}: unknown word "${unknown}"`
  const mustBeSaved = ['js', 'python', 'php', 'java'].includes(language)
  if (mustBeSaved && !words.some((word) => isFileName(word) || word === 'browser')) {
    return `${file}:${line}: a program needs a file name, so that it can be run`
  }
  return null
}

const programs = ['python3', 'php', 'java'] as const

/** Null if what the block calls is installed; else which program is not. */
export function missingProgram(block: Block): string | null {
  for (const name of programs) {
    if (!new RegExp(String.raw`(?:^|[\s(|;&])${name}\s`, 'u').test(block.text)) continue
    // PHP speaks to the service through an extension that is a package of its own.
    const probe = name === 'php' ? ['-r', 'exit(function_exists("curl_init") ? 0 : 1);'] : null
    const found = spawnSync(name, probe ?? ['--version'], { stdio: 'ignore' })
    if (found.status !== 0) return probe === null ? name : `${name} with the extension curl`
  }
  return null
}

export function checkShellSyntax(block: Block, scripts: Readonly<Record<string, string>>): void {
  const parsed = spawnSync('bash', ['-n'], { input: block.text, encoding: 'utf8' })
  assert.equal(parsed.status, 0, parsed.stderr)
  for (const [, name = ''] of block.text.matchAll(/\bnpm (?:run )?(start|test|demo|bench\S*)/gu)) {
    assert.ok(scripts[name] !== undefined, `npm ${name}`)
  }
  const assignments = [...block.text.matchAll(/\b(SHELFTRACE_\w+)=(\S+)/gu)]
  parseConfig(
    Object.fromEntries(assignments.map(([, name = '', value = '']) => [name, value] as const))
  )
}

export function checkBrowserScript(block: Block, folder: string): void {
  const file = join(folder, `browser-${block.line}.cjs`)
  writeFileSync(file, block.text)
  const checked = spawnSync(process.execPath, ['--check', file], { encoding: 'utf8' })
  assert.equal(checked.status, 0, checked.stderr)
}

export function checkUnit(block: Block): void {
  const lines = block.text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  for (const line of lines) assert.match(line, /^(?:\[[A-Z]\w+\]|[A-Z]\w+=.*)$/u)
  const valuesOf = (key: string) =>
    lines.filter((line) => line.startsWith(`${key}=`)).map((line) => line.slice(key.length + 1))
  const variables = valuesOf('Environment').map((value) => value.split('='))
  parseConfig(Object.fromEntries(variables))
  assert.match(valuesOf('ExecStart').join('\n'), /^\S*node dist\/cli\.js serve$/u)
}

const { components } = buildOpenApi({
  trackingUrl: 'http://127.0.0.1:8080',
  campaignUrl: 'http://127.0.0.1:8081',
  version: '0.0.0',
})

/** Parses the block, and holds it to the schema that its fence names. */
export function checkJson(block: Block): void {
  const value: unknown = JSON.parse(block.text)
  const name = block.words.find(isSchemaName)
  if (name === undefined) return
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  ajv.addSchema({ $id: 'openapi', components })
  const validate = ajv.getSchema(`openapi#/components/schemas/${name}`)
  assert.ok(validate !== undefined, `there is no schema ${name}`)
  assert.ok(validate(value) === true, ajv.errorsText(validate.errors))
}
