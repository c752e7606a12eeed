import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { answerWith, fileOf, received, run, useCliServer } from './harness.ts'

useCliServer()

const whole = { taken: 2, repeated: 0, refused: [], refusedCount: 0 }

test('a dry run of a bundle asks for one and says that nothing is stored', async () => {
  answerWith(200, { entries: 3, products: 2, dryRun: true })

  const argv = ['catalog', 'load', '--dry-run', '-']
  const { exitCode, stdout } = await run(argv, { stdin: Readable.from(['{}']) })

  assert.equal(exitCode, 0)
  assert.equal(received[0]?.url, '/admin/v1/catalog?dryRun=true')
  assert.equal(stdout, '3 entries and 2 products would be taken; nothing is stored.\n')
})

test('catalog load says whose deliveries are believed by other rules than before', async () => {
  const before = { conversionSources: [], requireKey: null }
  const after = { conversionSources: ['192.0.2.0/24', '::1'], requireKey: true }
  const trustChanges = [
    { publisherId: 10, before, after },
    { publisherId: 11, before: after, after: { ...before, requireKey: false } },
  ]
  answerWith(200, { entries: 2, products: 0, trustChanges })

  const { stdout } = await run(['catalog', 'load', '-'], { stdin: Readable.from(['{}']) })

  assert.deepEqual(stdout.split('\n').slice(1, 3), [
    'Publisher 10: deliveries count from 192.0.2.0/24, ::1, with a key only; before from anywhere, with or without a key as the installation says.',
    'Publisher 11: deliveries count from anywhere, without a key too; before from 192.0.2.0/24, ::1, with a key only.',
  ])
})

test('a feed is streamed into its market, with progress on the error output', async () => {
  answerWith(200, whole)
  const path = await fileOf('gtin\ttitle\n1\tA\n2\tB\n')

  const { exitCode, stdout, stderr } = await run(['catalog', 'products', '--market', '7', path], {
    isTTY: true,
  })

  assert.equal(exitCode, 0)
  assert.deepEqual(
    [received[0]?.method, received[0]?.url, received[0]?.body],
    ['PUT', '/admin/v1/markets/7/products', 'gtin\ttitle\n1\tA\n2\tB\n']
  )
  assert.equal(stdout, '2 rows taken; 0 refused.\n')
  assert.ok(stderr.endsWith('\r\u001b[K3 lines, 19 bytes sent\n'))
})

const feed = () => ({ stdin: Readable.from(['gtin\ttitle\n']) })

test('the switches of a feed are handed on, and its outcome is told in full', async () => {
  const refused = [{ line: 4, messages: ['/gtin is required', '/title is required'] }]
  answerWith(200, { ...whole, repeated: 1, refused, refusedCount: 3, deactivated: 5 })

  const replaced = await run(['catalog', 'products', '--market=1', '--replace', '-'], feed())
  answerWith(200, { taken: 2, refused: [], refusedCount: 0, dryRun: true })
  const dry = await run(['catalog', 'products', '--market=1', '--dry-run', '-'], feed())
  answerWith(200, { ...whole, deactivated: 0, notReplaced: 'no row was taken' })
  const hindered = await run(['catalog', 'products', '--market=1', '--replace', '-'], feed())

  assert.deepEqual(
    received.map(({ url }) => url.split('?')[1]),
    ['replace=true', 'dryRun=true', 'replace=true']
  )
  assert.equal(
    replaced.stdout,
    '2 rows taken; 3 refused.\n' +
      '1 of them was replaced by a later row for the same product.\n' +
      '5 products are no longer active.\n' +
      '  line 4: /gtin is required; /title is required\n' +
      '  and 2 more\n'
  )
  assert.equal(dry.stdout, '2 rows would be taken, nothing is stored; 0 refused.\n')
  assert.match(hindered.stdout, /Nothing was replaced: no row was taken\.\n$/)
  assert.deepEqual([replaced.exitCode, dry.exitCode, hindered.exitCode], [1, 0, 1])
})

test('a page of the catalog is a table, and says how to go on', async () => {
  answerWith(200, {
    entries: [
      { id: 1, name: 'Acme \u001b[31m', access: [{}, {}] },
      { id: 2, name: 'Rival', active: false },
    ],
    next: '2',
  })

  const { exitCode, stdout } = await run(['catalog', 'show', 'advertisers', '--limit', '2'])

  assert.equal(exitCode, 0)
  assert.equal(received[0]?.url, '/admin/v1/catalog/advertisers?limit=2')
  assert.equal(
    stdout,
    'ID  NAME        ACCESS  ACTIVE\n' +
      '1   Acme \ufffd[31m  2       -\n' +
      '2   Rival       -       false\n' +
      'More follow: --after 2\n'
  )
})

test('the products of a market are shown by product and by a part of the title', async () => {
  answerWith(200, { entries: [], next: null })

  const argv = ['catalog', 'show', 'products', '--market', '1', '--title', 'A & B', '--after', '9']
  const { stdout } = await run([...argv, '--gtin', '4006381333931'])

  assert.equal(
    received[0]?.url,
    '/admin/v1/markets/1/products?after=9&gtin=4006381333931&title=A+%26+B'
  )
  assert.equal(stdout, 'There are no entries.\n')
})

test('without a kind the entries are counted, and given whole with --json', async () => {
  const bundle = { markets: [{ id: 1, code: 'DE', currency: 'EUR', timeZone: 'UTC' }], assets: [] }
  answerWith(200, bundle)

  const text = await run(['catalog', 'show'])
  const json = await run(['catalog', 'show', '--json'])

  assert.equal(text.stdout, 'KIND     ENTRIES\nmarkets  1\nassets   0\n')
  assert.deepEqual(JSON.parse(json.stdout), bundle)
})

const misunderstood: readonly (readonly [argv: readonly string[], message: RegExp])[] = [
  [['products', '-'], /--market must be the id/],
  [['products', '--market', '01', '-'], /--market must be the id/],
  [['products', '--market', '1'], /Usage: shelftrace catalog products FILE/],
  [['show', 'keys'], /KIND must be one of: markets, .*assignments, products\n/],
  [['show', 'products'], /--market must be the id/],
  [['show', 'markets', '--title', 'x'], /--title can be used with products only/],
  [['show', 'markets', 'assets'], /Usage: shelftrace catalog show/],
]
test('what is not understood ends with 2 and asks no server', async () => {
  for (const [argv, message] of misunderstood) {
    const { exitCode, stderr } = await run(['catalog', ...argv])
    assert.equal(exitCode, 2, argv.join(' '))
    assert.match(stderr, message)
  }
  assert.deepEqual(received, [])
})
