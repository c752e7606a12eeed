import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { commands, commonOptions, groups } from '../../src/cli/commands.ts'
import { helpText } from '../../src/cli/help.ts'
import { plainLayout } from '../../src/cli/layout.ts'
import { optionOf } from '../../src/cli/list.ts'
import { parseRequest } from '../../src/cli/parse.ts'
import { scopes } from '../../src/contract/admin.ts'
import { auditActions, auditExportQuerySchema, auditQuerySchema } from '../../src/contract/audit.ts'
import { pageKinds } from '../../src/contract/catalog-pages.ts'
import { limitQuerySchema } from '../../src/contract/fields.ts'
import { assumptions } from '../../src/contract/judgements.ts'
import { setAsideQuerySchema } from '../../src/contract/set-aside.ts'
import { unconvertedQuerySchema } from '../../src/contract/unconverted.ts'

const prefixes = [...new Set(commands.map(({ name }) => name.split(' ')[0] ?? ''))]
const topics = [null, ...commands, ...prefixes]

test('every help text fits 80 columns', () => {
  for (const topic of topics) {
    const lines = helpText(topic, plainLayout).split('\n')
    assert.deepEqual(
      lines.filter((line) => line.length > 80),
      []
    )
    assert.deepEqual(
      lines.filter((line) => /\s$/u.test(line)),
      []
    )
  }
})

/** The words of a command line as a shell would split it: blanks, quotes, a backslash at the end of a line. */
function split(line: string): readonly string[] {
  const words = line.replaceAll('\\\n', ' ').match(/"[^"]*"|[^\s"]+/gu) ?? []
  return words.map((word) => word.replaceAll('"', ''))
}

/** What follows `shelftrace` in each part of a pipe. */
function invocations(examples: readonly string[]): readonly (readonly string[])[] {
  return examples
    .join('\n')
    .replaceAll(/([\\|])\n/gu, '$1')
    .replaceAll('\\', '')
    .replaceAll(/source <\((.*)\)/gu, '$1')
    .split(/[\n|]/u)
    .map(split)
    .filter((words) => words.length > 0)
    .map((words) => {
      const end = words.indexOf('>')
      return words.slice(words.indexOf('shelftrace') + 1, end === -1 ? undefined : end)
    })
}

test('every command has an example, and every example is understood as that command', () => {
  for (const command of commands) {
    const all = invocations(command.examples)
    assert.ok(all.length > 0, command.name)
    const understood = all.map((argv) => parseRequest(argv))
    assert.ok(
      understood.some((one) => one.kind === 'run' && one.command === command),
      command.name
    )
    assert.ok(understood.every((one) => one.kind === 'run'))
    assert.ok(helpText(command, plainLayout).includes(`  ${command.examples[0] ?? ''}\n`))
  }
})

test('help says of every option what it is for, and of every command that reads a file how that looks', () => {
  for (const command of commands) {
    const text = helpText(command, plainLayout)
    for (const name of Object.keys(command.options ?? {})) assert.ok(text.includes(`  --${name}`))
    const reads = (command.operands ?? []).some(({ name }) => name === 'FILE|-')
    if (reads) assert.match(text, /\nFile:/u)
  }
})

test('the list of commands is grouped and has each of them once', () => {
  const text = helpText(null, plainLayout)
  for (const { title } of groups) assert.ok(text.includes(`\n${title}:\n`))
  for (const { name } of commands)
    assert.equal(text.split(`\n  ${name.padEnd(16)}  `).length, 2, name)
})

test('help about serve lists every variable of the configuration', () => {
  const page = readFileSync('docs/configuration.md', 'utf8')
  const [, section = ''] = page.split('## Variables of `serve`')
  const [table = ''] = section.split('\n## ')
  const serve = commands.find(({ name }) => name === 'serve') ?? null

  const documented = [...table.matchAll(/^\| `(SHELFTRACE_\w+)`/gmu)].map(([, name]) => name)
  const told = helpText(serve, plainLayout).matchAll(/^ {2}(SHELFTRACE_\w+) {1,}/gmu)

  assert.ok(documented.length > 20)
  const names = [...told].map(([, name]) => name)
  const wrapped = /^ {2}(SHELFTRACE_\w+)$/gmu
  names.push(...[...helpText(serve, plainLayout).matchAll(wrapped)].map(([, name]) => name))
  assert.deepEqual(
    documented.filter((name) => !names.includes(name)),
    []
  )
})

function choicesOf(name: string, option: string): readonly string[] | undefined {
  return commands.find((command) => command.name === name)?.options?.[option]?.choices
}

test('the words that options take are those of the contract', () => {
  const kinds = commands.find(({ name }) => name === 'catalog show')?.operands?.[0]?.choices
  assert.deepEqual(kinds, [...pageKinds, 'products'])
  assert.deepEqual(choicesOf('keys create', 'scopes'), scopes)
  assert.deepEqual(choicesOf('audit', 'action'), auditActions)
  assert.deepEqual(choicesOf('judge', 'assume'), assumptions)
})

test('the options of a list are the parameters of its operation', () => {
  const queries = {
    audit: auditQuerySchema,
    'set-aside list': setAsideQuerySchema,
    'rates missing': unconvertedQuerySchema,
    conflicts: limitQuerySchema,
    'erasures list': limitQuerySchema,
    'judgements list': limitQuerySchema,
  }
  for (const [name, query] of Object.entries(queries)) {
    const options = commands.find((command) => command.name === name)?.options
    const parameters = Object.keys(query.properties).map(optionOf)
    assert.deepEqual(Object.keys(options ?? {}).toSorted(), parameters.toSorted(), name)
  }
  assert.ok('from' in auditExportQuerySchema.properties)
})

test('an option means the same kind of thing in every command, so it may stand before the command', () => {
  const kinds = new Map<string, boolean>()
  for (const { options = {} } of [...commands, { options: commonOptions }]) {
    for (const [name, { value }] of Object.entries(options)) {
      assert.equal(kinds.get(name) ?? value === undefined, value === undefined, name)
      kinds.set(name, value === undefined)
    }
  }
})
