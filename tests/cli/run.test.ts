import assert from 'node:assert/strict'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { test } from 'node:test'
import { runCli } from '../../src/cli/run.ts'
import {
  answerText,
  answerWith,
  fileOf,
  folder,
  received,
  run,
  url,
  useCliServer,
} from './harness.ts'

useCliServer()

test('help lists the commands, help about one tells its usage, and neither needs a server', async () => {
  const environment = { SHELFTRACE_URL: 'http://127.0.0.1:1', SHELFTRACE_KEY: '' }
  for (const argv of [[], ['help'], ['--help'], ['-h']]) {
    const { exitCode, stdout } = await run(argv, { environment })
    assert.equal(exitCode, 0)
    for (const name of ['serve', 'catalog load', 'keys create', 'links mint', 'events load']) {
      assert.ok(stdout.includes(`  ${name} `), name)
    }
  }
  for (const argv of [
    ['help', 'keys', 'create'],
    ['keys', 'create', '--help'],
  ]) {
    const { exitCode, stdout } = await run(argv, { environment })
    assert.equal(exitCode, 0)
    assert.match(
      stdout,
      /^Usage: shelftrace keys create --scopes SCOPE,\.\.\. \[--advertisers ID,\.\.\.\|all\]/
    )
  }
})

test('the version is that of the package, by whatever word other programs print theirs', async () => {
  for (const word of ['--version', '-v', '-V', 'version']) {
    const { exitCode, stdout } = await run([word])
    assert.equal(exitCode, 0)
    assert.match(stdout, /^\d+\.\d+\.\d+\n$/)
  }
})

const misunderstood: readonly (readonly [argv: readonly string[], message: RegExp])[] = [
  [['sevre'], /no command "sevre"\. Did you mean "serve"\?/],
  [['keys', 'creat'], /It is one of: keys create, keys invite, keys admit, keys list, keys revoke/],
  [['catalogue', 'load', 'x'], /Did you mean "catalog load"\?/],
  [['xyzzyx'], /There is no command "xyzzyx"\. See/],
  [['\u001b[31mstatus'], /There is no command "\uFFFD\[31mstatus"/u],
  [['restore', ''], /FOLDER must not be empty: name the folder of a backup/],
  [['status', '--jsn'], /Unknown option '--jsn'.*help status/],
  [['status', '--key', 'SECRET'], /Unknown option '--key'/],
  [['status', 'extra'], /Usage: shelftrace status/],
  [['catalog', 'load'], /Usage: shelftrace catalog load FILE/],
  [['keys', 'create', '--name', 'n'], /--scopes is required/],
  [
    ['keys', 'create', '--name', 'n', '--scopes', 'root', '--advertisers', 'all'],
    /--scopes must be among/,
  ],
  [
    ['keys', 'create', '--name', 'n', '--scopes', 'admin', '--advertisers', '1,x'],
    /--advertisers must be/,
  ],
  [
    [
      'keys',
      'create',
      '--name',
      'n',
      '--scopes',
      'admin',
      '--advertisers',
      '1',
      '--expires',
      'soon',
    ],
    /--expires must be/,
  ],
  [['status', '--url', 'ftp://x'], /address of the server must be/],
  [['status', '--url', 'http://u:SECRET@x'], /must not contain credentials/],
  [['status', '--url', 'http://track.example:8081'], /https:.*clear; --allow-plain-http/],
  [['status', '--url', 'http://127.0.0.1.example'], /https:.*clear; --allow-plain-http/],
]
test('what is not understood ends with 2, says what was meant, and asks no server', async () => {
  for (const [argv, message] of misunderstood) {
    const { exitCode, stdout, stderr } = await run(argv)
    assert.equal(exitCode, 2, argv.join(' '))
    assert.match(stderr, message)
    assert.equal(stdout, '')
    assert.ok(!stderr.includes('SECRET'))
  }
  assert.deepEqual(received, [])
})

test('the key comes from SHELFTRACE_KEY, else from the data folder; without one nothing is sent', async () => {
  answerWith(200, { keys: [] })

  await run(['keys', 'list'])
  await run(['keys', 'list'], {
    environment: { SHELFTRACE_KEY: '', SHELFTRACE_DATA_DIR: folder },
  })
  const environment = { SHELFTRACE_KEY: '', SHELFTRACE_DATA_DIR: join(folder, 'none') }
  const none = await run(['keys', 'list'], { environment })
  const broken = await run(['keys', 'list'], { environment: { SHELFTRACE_KEY: 'SECRET\u00e4' } })

  assert.deepEqual(
    received.map(({ authorization }) => authorization),
    ['Bearer st_from-env', 'Bearer st_from-file']
  )
  assert.equal(none.exitCode, 1)
  assert.match(none.stderr, /There is no key: set SHELFTRACE_KEY/)
  assert.equal(broken.exitCode, 1)
  assert.ok(!broken.stderr.includes('SECRET'))
})

test('a server that is not there is named, with what to do about it', async () => {
  const { exitCode, stderr } = await run(['status', '--url', 'http://127.0.0.1:1'])

  assert.equal(exitCode, 1)
  assert.match(stderr, /Nothing answers at http:\/\/127\.0\.0\.1:1 .*shelftrace serve/)
})

test('a refusal is told in the words of the server', async () => {
  const cases = [
    [401, /does not know this key/],
    [403, /is not allowed to do that/],
    [404, /answered 404/],
    [422, /refused the request \(422\):\n {2}\/x is wrong\n/],
    [503, /answered 503/],
  ] as const
  for (const [status, words] of cases) {
    answerWith(status, { messages: ['/x is wrong'] })
    const { exitCode, stderr } = await run(['status'])
    assert.equal(exitCode, 1)
    assert.match(stderr, words)
    assert.match(stderr, /\/x is wrong/)
  }
})

test('what a proxy says of a service that is down is told as such, whatever it is written in', async () => {
  for (const status of [502, 503, 504]) {
    for (const body of ['<html>Bad Gateway</html>', '', '{"message":"Bad Gateway"}']) {
      answerText(status, body)
      const { exitCode, stderr } = await run(['status'])
      assert.equal(exitCode, 1)
      assert.equal(
        stderr,
        `shelftrace: ${url} answered ${status}: a proxy is there, and the service behind it is down or cannot be reached.\n`
      )
    }
  }
})

test('a redirect is not followed, and told with where it leads', async () => {
  for (const [location, where] of [
    ['https://campaign.example/login?next=secret', ' to https://campaign.example/login'],
    ['/sign-in', ` to ${url}/sign-in`],
    ['https://', ''],
  ] as const) {
    answerText(302, '', { location })
    const { exitCode, stderr } = await run(['status'])
    assert.equal(exitCode, 1)
    assert.ok(stderr.startsWith(`shelftrace: ${url} leads elsewhere${where} (302), `), stderr)
    assert.doesNotMatch(stderr, /secret/u)
  }
  assert.equal(received.length, 3)
})

test('no message of a server can control the terminal', async () => {
  for (const status of [404, 422, 500]) {
    answerWith(status, { messages: ['/x is \u001b[2Jwrong\nshelftrace: all is well\u202e'] })
    const { stderr } = await run(['status'])
    assert.match(stderr, /\/x is \uFFFD\[2Jwrong\uFFFDshelftrace: all is well\uFFFD\n$/u)
  }
  answerWith(200, { '\u001b[2J': 1 })
  assert.ok(!(await run(['status'])).stderr.includes('\u001b'))
})

test('an answer that is none of ours is told as such', async () => {
  for (const status of [400, 401, 404, 500]) {
    answerText(status, '<html>')
    const { stderr } = await run(['status'])
    assert.equal(
      stderr,
      `shelftrace: ${url} answered ${status}, and not in JSON. Is this the campaign port of Shelftrace?\n`
    )
  }
  answerText(200, '<html>')
  assert.match((await run(['status'])).stderr, /Is this the campaign port of Shelftrace\?/)
  answerWith(200, { version: 1 })
  assert.match((await run(['status'])).stderr, /Does its version match/)
})

test('catalog load puts the file and tells what was taken', async () => {
  answerWith(200, { entries: 3, products: 2 })
  const path = await fileOf('{"markets":[]}')

  const text = await run(['catalog', 'load', path])
  const json = await run(['catalog', 'load', '--json', '-'], { stdin: Readable.from(['{}']) })

  assert.deepEqual(received[0], {
    method: 'PUT',
    url: '/admin/v1/catalog',
    authorization: 'Bearer st_from-env',
    type: 'application/json',
    body: '{"markets":[]}',
  })
  assert.equal(text.stdout, '3 entries and 2 products taken.\n')
  assert.equal(received[1]?.body, '{}')
  assert.deepEqual(JSON.parse(json.stdout), { entries: 3, products: 2 })
})

test('a file that cannot be read is named before anything is sent', async () => {
  for (const argv of [
    ['catalog', 'load'],
    ['links', 'mint'],
    ['events', 'load'],
  ]) {
    const missing = await run([...argv, join(folder, 'missing')])
    const directory = await run([...argv, folder])
    assert.equal(missing.exitCode, 1)
    assert.match(missing.stderr, /missing cannot be read \(ENOENT\)/)
    assert.equal(directory.exitCode, 1)
  }
  assert.deepEqual(received, [])
})

test('keys create sends what was asked for and shows the key once', async () => {
  answerWith(201, { id: 'key_1', key: 'st_new' })

  const scopes = ['--scopes', 'report:read, site:read']
  const rest = ['--advertisers', '1,2', '--expires', '2027-01-01T00:00:00Z']
  const argv = ['keys', 'create', '--name', 'Acme', ...scopes, ...rest]
  const { exitCode, stdout } = await run(argv)

  assert.equal(exitCode, 0)
  assert.equal(received[0]?.method, 'POST')
  assert.deepEqual(JSON.parse(received[0]?.body ?? ''), {
    name: 'Acme',
    scopes: ['report:read', 'site:read'],
    advertisers: [1, 2],
    expiresAt: '2027-01-01T00:00:00Z',
  })
  assert.match(stdout, /^id {3}key_1\nkey {2}st_new\n/)
})

test('keys create for publishers needs no advertisers', async () => {
  answerWith(201, { id: 'key_1', key: 'st_new' })

  await run(['keys', 'create', '--name', 'Shop', '--scopes', 'intake:read', '--publishers', '10'])
  await run(['keys', 'create', '--name', 'S', '--scopes', 'intake:read', '--publishers', 'all'])
  const argv = ['keys', 'create', '--name', 'S', '--scopes', 'intake:read']
  const bad = await run([...argv, '--publishers', '10,x'])

  assert.deepEqual(
    received.map(({ body }): unknown => JSON.parse(body)),
    [
      { name: 'Shop', scopes: ['intake:read'], publishers: [10] },
      { name: 'S', scopes: ['intake:read'], publishers: 'all' },
    ]
  )
  assert.equal(bad.exitCode, 2)
  assert.match(bad.stderr, /--publishers must be "all" or ids such as 1,2/)
})

test('keys list is a table that no name can break out of', async () => {
  const key = {
    advertisers: [1, 2],
    publishers: [],
    scopes: ['admin'],
    createdAt: '2026-03-01T00:00:00.000Z',
  }
  answerWith(200, {
    keys: [
      { ...key, id: 'key_1', name: '\u001b[31mred\n\u202eevil' },
      {
        ...key,
        id: 'key_22',
        name: 'b',
        advertisers: 'all',
        publishers: [10],
        revokedAt: key.createdAt,
      },
    ],
  })

  const { stdout } = await run(['keys', 'list'])

  const lines = stdout.split('\n')
  assert.equal(lines.length, 4)
  assert.match(lines[0] ?? '', /^ID {6}NAME {12}ADVERTISERS {2}PUBLISHERS {2}SCOPES/)
  assert.ok(!stdout.includes('\u001b') && !stdout.includes('\u202e'))
  assert.match(lines[1] ?? '', / 1,2 +none +admin /)
  assert.match(lines[2] ?? '', /all +10 .* - +2026-03-01T00:00:00\.000Z +-$/)
})

test('keys revoke names the key in the path, escaped', async () => {
  answerText(204, '')

  const { exitCode, stdout } = await run(['keys', 'revoke', 'a/../b'])

  assert.equal(exitCode, 0)
  assert.deepEqual([received[0]?.method, received[0]?.url], ['DELETE', '/admin/v1/keys/a%2F..%2Fb'])
  assert.equal(stdout, 'a/../b is revoked.\n')
})

test('events load streams the file, shows progress, and ends with 1 when lines were refused', async () => {
  const refused = [{ line: 2, messages: ['/x \u001b[31m'] }]
  answerWith(200, { accepted: 1, refused, refusedCount: 9 })
  const path = await fileOf('{"a":1}\n{"b":2}\n')

  const { exitCode, stdout, stderr } = await run(['events', 'load', path], { isTTY: true })

  assert.equal(exitCode, 1)
  assert.equal(received[0]?.type, 'application/x-ndjson')
  assert.equal(received[0]?.body, '{"a":1}\n{"b":2}\n')
  assert.ok(
    stdout.startsWith('1 event accepted, 9 refused.\n  line 2: /x \ufffd[31m\n  and 8 more\n')
  )
  assert.ok(stderr.endsWith('\r\u001b[K2 lines, 16 bytes sent\n'))
})

test('events load stops sending what the server has refused, and tells why', async () => {
  answerWith(503, { messages: ['The service cannot store events right now.'] }, { isEarly: true })
  const line = Buffer.from(`${'x'.repeat(65_535)}\n`)
  let count = 0
  const endless = new Readable({
    read() {
      count += 1
      this.push(count > 100_000 ? null : line)
    },
  })

  const { exitCode, stderr } = await run(['events', 'load', '-'], { stdin: endless })

  assert.equal(exitCode, 1)
  assert.match(stderr, /answered 503\.\n {2}The service cannot store events right now\./)
  assert.ok(count < 100_000)
})

test('a replay says what became of the records, and fails where some wait on', async () => {
  answerWith(200, { replayed: 2, setAsideAgain: 0, unknown: 0, remaining: 0 })
  const good = await run(['set-aside', 'replay', '--all'])
  answerWith(200, { replayed: 0, setAsideAgain: 0, unknown: 1, remaining: 3 })
  const unknown = await run(['set-aside', 'replay', '--key', 'ab'])
  const both = await run(['set-aside', 'replay', '--key', 'ab', '--all'])

  assert.equal(good.exitCode, 0)
  assert.match(good.stdout, /2 records are shipped, 0 were set aside again, 0 wait/)
  assert.equal(unknown.exitCode, 1)
  assert.match(unknown.stdout, /Nothing waits under that key/)
  assert.equal(both.exitCode, 2)
})

test('serve with a setting that is wrong ends with 1 and names the setting', async () => {
  const environment = { SHELFTRACE_DATA_DIR: folder, SHELFTRACE_CAMPAIGN_PORT: 'x' }

  const { exitCode, stderr } = await run(['serve'], { environment })

  assert.equal(exitCode, 1)
  assert.match(stderr, /^shelftrace: [^]*SHELFTRACE_CAMPAIGN_PORT/)
})

test('a server behind a path is reached under it', async () => {
  answerWith(200, { keys: [] })

  await run(['keys', 'list', '--url', `${url}/shelftrace/`])

  assert.equal(received[0]?.url, '/shelftrace/admin/v1/keys')
})

/** The write end of a pipe that nobody reads. */
function goneOutput(): Writable {
  return new Writable({
    write: (_chunk, _encoding, done) => {
      done(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }))
    },
  })
}

test('a reader of the output that goes away, as head does, ends no command', async () => {
  const code = await runCli({
    argv: ['help'],
    environment: {},
    stdin: Readable.from([]),
    stdout: goneOutput(),
    stderr: goneOutput(),
  })
  await new Promise((resolve) => setImmediate(resolve))

  assert.equal(code, 0)
})
