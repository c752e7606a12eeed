import assert from 'node:assert/strict'
import { test } from 'node:test'
import { commands } from '../../src/cli/commands.ts'
import { nameArguments } from '../../src/cli/usage.ts'
import { answerText, answerWith, received, run, useCliServer } from './harness.ts'

useCliServer()

const other = 'http://127.0.0.1:1'

test('options may stand before, inside and behind the words of a command', async () => {
  answerWith(200, { keys: [] })
  for (const argv of [
    ['--json', 'keys', 'list'],
    ['keys', '--json', 'list'],
    ['keys', 'list', '--json'],
  ]) {
    const { exitCode, stdout } = await run(argv)
    assert.deepEqual([exitCode, JSON.parse(stdout)], [0, { keys: [] }])
  }
  for (const argv of [
    ['--url', other, 'status'],
    [`--url=${other}`, 'status'],
    ['status', '--url', other],
  ]) {
    assert.match((await run(argv)).stderr, /Nothing answers at http:\/\/127\.0\.0\.1:1 /u)
  }
})

test('the value of an option is never taken for a command', async () => {
  answerWith(202, { purchases: 0 })
  const argv = ['--from', '2026-03-01', 'rebuild', '--to', '2026-03-02']

  assert.equal((await run(argv)).exitCode, 0)
  assert.equal(received[0]?.body, '{"startDate":"2026-03-01","endDate":"2026-03-02"}')
})

test('help about a group of commands lists them and ends with 0, however it is asked for', async () => {
  for (const argv of [
    ['keys', '--help'],
    ['help', 'keys'],
    ['--help', 'keys'],
    ['keys', '-h'],
  ]) {
    const { exitCode, stdout } = await run(argv)
    assert.equal(exitCode, 0)
    assert.match(stdout, /^Usage: shelftrace keys \.\.\.\n[^]*keys create .*\n[^]*keys revoke /u)
  }
  const none = await run(['keys'])
  assert.equal(none.exitCode, 2)
  assert.match(
    none.stderr,
    /It is one of: keys create, keys invite, keys admit, keys list, keys revoke/u
  )
})

test('help about a group whose word is a command of its own has the options and operands of that, and the others', async () => {
  const audit = (await run(['help', 'audit'])).stdout
  const backup = (await run(['backup', '--help'])).stdout

  for (const option of ['from', 'to', 'action', 'key-id', 'after', 'limit']) {
    assert.match(audit, new RegExp(`^  --${option} `, 'mu'))
  }
  assert.match(audit, /^  audit export .*\n  audit verify /mu)
  assert.match(audit, /"shelftrace help audit export" shows more/u)
  assert.match(backup, /^Usage: shelftrace backup .*NAME/u)
})

test('a slip for a command of a group is no argument of the command of that name', async () => {
  const slip = await run(['backup', 'lst'])
  assert.equal(slip.exitCode, 2)
  assert.match(
    slip.stderr,
    /Did you mean "backup list"\? If "lst" is meant, write "backup -- lst"\./u
  )
  assert.match((await run(['audit', 'verfy'])).stderr, /Did you mean "audit verify"\? See/u)
  const swapped = await run(['backup', 'lsit'])
  assert.match(swapped.stderr, /Did you mean "backup list"\? If "lsit" is meant/u)
  assert.deepEqual(received, [])

  answerWith(201, {})
  await run(['backup', '--', 'lst'])
  await run(['backup', 'before-upgrade'])
  assert.deepEqual(
    received.map(({ body }) => JSON.parse(body)),
    [{ name: 'lst' }, { name: 'before-upgrade' }]
  )
})

test('help about a command needs none of its arguments', async () => {
  for (const argv of [
    ['void', '--help'],
    ['help', 'void'],
    ['void', '10', '-h', '--nonsense'],
  ]) {
    const { exitCode, stdout } = await run(argv)
    assert.equal(exitCode, 0)
    assert.match(stdout, /^Usage: shelftrace void PUBLISHER TRANSACTION DELIVERY --reason TEXT\n/u)
  }
})

test('a misspelt option and a word that an option does not take are told with what was meant', async () => {
  const misspelt = await run(['audit', '--form', '2026-03-01T00:00:00Z'])
  const word = await run(['audit', '--action', 'key.delete'])
  const valueless = await run(['keys', 'revoke', 'k', '--compromised-since'])

  assert.match(misspelt.stderr, /Unknown option '--form'\. Did you mean --from\? See/u)
  assert.match(word.stderr, /--action must be one of: asset\.attach, /u)
  assert.match(valueless.stderr, /--compromised-since needs a value; .* See/u)
  for (const { exitCode } of [misspelt, word, valueless]) assert.equal(exitCode, 2)
})

test('an option without its value, or before what looks like another one, is told how a value with a dash is written', async () => {
  for (const [words, name] of [
    [['conflicts', '--limit', '-1'], 'limit'],
    [['conflicts', '--limit', '--json'], 'limit'],
    [['conflicts', '--limit'], 'limit'],
    [['keys', 'revoke', 'k', '--compromised-since', '-1d'], 'compromised-since'],
  ] as const) {
    const { exitCode, stderr } = await run(words)

    assert.equal(exitCode, 2)
    const rule = `--${name} needs a value; one that begins with a dash is written --${name}=-… See`
    assert.ok(stderr.includes(rule), stderr)
  }
})

test('an option with a value is given once, unless it says otherwise; a switch may be repeated', async () => {
  const rest = ['--scopes', 'metrics:read']
  const repeats = [
    ['keys', 'create', '--name', 'x', '--name', 'y', ...rest],
    ['--name=x', 'keys', 'create', '--name', 'x', ...rest],
  ]
  for (const argv of repeats) {
    const { exitCode, stderr } = await run(argv)
    assert.deepEqual([exitCode, stderr], [2, 'shelftrace: --name must be given once\n'])
  }
  const url = await run(['--url', 'http://127.0.0.1:1', 'status', '--url', 'http://127.0.0.1:2'])
  assert.deepEqual([url.exitCode, url.stderr], [2, 'shelftrace: --url must be given once\n'])
  assert.deepEqual(received, [])

  answerWith(200, { keys: [] })
  assert.equal((await run(['--json', 'keys', 'list', '--json'])).exitCode, 0)
  const heads = ['--head', `a:1:${'0'.repeat(64)}`, '--head', `b:1:${'0'.repeat(64)}`]
  const verified = await run(['audit', 'verify', '-', ...heads])
  assert.doesNotMatch(verified.stderr, /given once/u)
})

test('help about help, and about the version, is the help of the program', async () => {
  const { stdout: whole } = await run(['help'])
  for (const argv of [
    ['help', 'help'],
    ['help', '--help'],
    ['help', 'version'],
    ['version', '--help'],
  ]) {
    const { exitCode, stdout } = await run(argv)
    assert.equal(exitCode, 0, argv.join(' '))
    if (argv[0] === 'help') assert.equal(stdout, whole)
  }
})

const refusals = [
  [
    ['rebuild', '--from', '2026-13-01', '--to', '2026-03-01'],
    '/startDate must be a date such as 2026-03-01',
    '--from must be a date such as 2026-03-01',
  ],
  [
    ['keys', 'create', '--name', 'x', '--scopes', 'link:mint'],
    '/advertisers is required for the scopes link:mint',
    '--advertisers is required for the scopes link:mint',
  ],
  [
    ['judge', '10', '--from', 'a', '--to', 'b', '--reason', 'c'],
    '/from must be before /to',
    '--from must be before --to',
  ],
  [
    ['rates', 'missing', '--from', '2026-02-01', '--to', '2026-01-01'],
    'startDate must not be after endDate',
    '--from must not be after --to',
  ],
  [
    ['audit', '--from', '2026-03-02T00:00:00Z', '--to', '2026-03-01T00:00:00Z'],
    'from must not be after to',
    '--from must not be after --to',
  ],
  [
    ['catalog', 'show', 'campaigns', '--limit', '0'],
    'limit must be an integer from 1 to 1000',
    '--limit must be an integer from 1 to 1000',
  ],
  [
    ['void', '10', 't', 'd', '--reason', 'r'],
    '/deliveryId must be a UUID',
    'DELIVERY must be a UUID',
  ],
] as const

test('a message of the API names the argument that was typed', async () => {
  for (const [argv, message, told] of refusals) {
    answerWith(422, { messages: [message] })
    assert.match((await run(argv)).stderr, new RegExp(`\\n {2}${told}\\n$`, 'u'))
  }
})

test('places inside a file keep their path', () => {
  const load = commands.find(({ name }) => name === 'catalog load')
  assert.ok(load !== undefined)
  for (const message of [
    '/campaigns/3/name is required',
    '/publishers/0/requireKey must be boolean',
    'see http://x/dryRun/y',
    '/a/dryRun is',
  ]) {
    assert.equal(nameArguments(load, message), message)
  }
})

test('a file that is none is told as the file, and a line that is none as the line', async () => {
  answerWith(422, { messages: ['body must be valid JSON'] })
  const file = await run(['catalog', 'load', '-'])
  const refused = [{ line: 1, messages: ['body must be valid JSON'] }]
  answerWith(200, { accepted: 0, refused, refusedCount: 1 })
  const line = await run(['events', 'load', '-'])

  assert.match(file.stderr, /\n {2}the file must be valid JSON\n$/u)
  assert.match(line.stdout, /\n {2}line 1: it must be valid JSON\n$/u)
})

test('a command that is sent to the tracking port is told which port that is', async () => {
  answerText(404, '{}')
  const elsewhere = await run(['status'])
  answerWith(404, {}, { isTracking: true })
  const tracking = await run(['status'])

  assert.match(elsewhere.stderr, /answered 404/u)
  assert.match(tracking.stderr, /is the tracking port, .*campaign port \(8081 .*--url/u)
  const probes = received.filter(({ url }) => url === '/conversion')
  assert.deepEqual(
    probes.map(({ method, authorization }) => [method, authorization]),
    [
      ['GET', ''],
      ['GET', ''],
    ]
  )
})
