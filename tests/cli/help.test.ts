import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { checkBundle } from '../../src/catalog/check-bundle.ts'
import { parseRatesHeader, parseRatesLine } from '../../src/catalog/ecb-rates.ts'
import { emptySnapshot } from '../../src/catalog/snapshot.ts'
import { commands, commonOptions, groups } from '../../src/cli/commands.ts'
import { helpText } from '../../src/cli/help.ts'
import { plainLayout } from '../../src/cli/layout.ts'
import { optionOf } from '../../src/cli/list.ts'
import { parseRequest } from '../../src/cli/parse.ts'
import { scopes } from '../../src/contract/admin.ts'
import { auditActions, auditExportQuerySchema, auditQuerySchema } from '../../src/contract/audit.ts'
import { parseCatalogBundle } from '../../src/contract/catalog-bundle.ts'
import { pageKinds } from '../../src/contract/catalog-pages.ts'
import { parseEventLine } from '../../src/contract/event-lines.ts'
import { limitQuerySchema } from '../../src/contract/fields.ts'
import { assumptions } from '../../src/contract/judgements.ts'
import { setAsideQuerySchema } from '../../src/contract/set-aside.ts'
import { operations } from '../../src/contract/operations.ts'
import { unconvertedQuerySchema } from '../../src/contract/unconverted.ts'
import { answerWith, received, run, useCliServer } from './harness.ts'

useCliServer()

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

test('the ids of deliveries in examples are of the form that the service takes, in either case', async () => {
  for (const verb of ['void', 'unvoid']) {
    const [example = []] = invocations(commands.find(({ name }) => name === verb)?.examples ?? [])
    answerWith(500, {})
    await run(example.map((word) => (/^[0-9a-f]{32}$/u.test(word) ? word.toUpperCase() : word)))
    const { body = null } = operations.find(({ path }) => path.endsWith(`/${verb}`)) ?? {}
    assert.ok(body !== null && !body.isStream)
    assert.deepEqual(body.parse(JSON.parse(received.at(-1)?.body ?? '')).ok, true)
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

/** The lines below `File:` in the help of a command. */
function fileLinesOf(name: string): readonly string[] {
  const { sections = [] } = commands.find((command) => command.name === name) ?? {}
  return sections.flatMap(({ title, lines }) => (title.startsWith('File') ? lines : []))
}

test('the files that help shows are taken by the service', async () => {
  const bundleText = fileLinesOf('catalog load').join('\n').replaceAll('[...]', '[]')
  const bundle = parseCatalogBundle(
    JSON.parse(bundleText.slice(0, bundleText.lastIndexOf('}') + 1))
  )
  const [header = '', rates = ''] = fileLinesOf('rates load').map((line) =>
    line.replace(',...', '')
  )
  const currencies = parseRatesHeader(header)
  // Lines with an ellipsis in braces, or for an instant, only say what stands there.
  const events = fileLinesOf('events load').filter((line) => /^\{.*Z"\}$/u.test(line))

  assert.ok(bundle.ok, JSON.stringify(bundle))
  assert.ok((bundle.value.publishers ?? []).length > 0)
  assert.deepEqual(await checkBundle(bundle.value, emptySnapshot, async () => new Set()), [])
  assert.ok(currencies.ok)
  assert.ok(parseRatesLine(rates, { header: currencies.value, lastDay: '2026-12-31' }).ok)
  assert.ok(events.length > 0)
  for (const line of events) assert.ok(parseEventLine(JSON.parse(line)).ok, line)
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
