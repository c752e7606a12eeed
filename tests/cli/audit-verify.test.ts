import assert from 'node:assert/strict'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { after, before, test, type TestContext } from 'node:test'
import { gzipSync } from 'node:zlib'
import { hashRecord, noHash, type ChainedRecord } from '../../src/domain/audit-chain.ts'
import { adminKey, bearer, startAdmin, type AdminHarness } from '../campaign/admin/harness.ts'
import { answerText, answerWith, fileOf, received, run, useCliServer } from './harness.ts'

useCliServer()

let admin: AdminHarness
let url = ''
before(async () => {
  admin = await startAdmin()
  url = await admin.app.listen({ port: 0, host: '127.0.0.1' })
})
after(() => admin.close())

const writer = '9b2b6a54-0b0e-4c52-8a6a-6f3c1f0d2a11'

function aChain(count: number): readonly ChainedRecord[] {
  const records: ChainedRecord[] = []
  for (let sequence = 1; sequence <= count; sequence += 1) {
    const record = {
      at: `2026-03-01T00:00:0${sequence}.000000Z`,
      id: `id-${sequence}`,
      keyId: 'key_1',
      keyName: 'Ada \u001b[31m',
      action: 'key.create',
      subject: 's',
      details: '{}',
      writer,
      sequence,
      previousHash: records.at(-1)?.hash ?? noHash,
      heads: [],
    }
    records.push({ ...record, hash: hashRecord(record) })
  }
  return records
}

function linesOf(records: readonly object[]): string {
  return records.map((record) => `${JSON.stringify(record)}\n`).join('')
}

async function verifyFile(text: string, ...rest: readonly string[]) {
  return await run(['audit', 'verify', await fileOf(text), ...rest])
}

async function runHere(...argv: readonly string[]) {
  const environment = { SHELFTRACE_URL: url, SHELFTRACE_KEY: adminKey }
  return await run(['audit', ...argv], { environment })
}

test('an export of the service is whole, as a file, through a pipe, and asked of the service itself', async () => {
  for (let count = 0; count < 12; count += 1) {
    const request = { name: `Shop ${count}`, publishers: [10], scopes: ['intake:read'] }
    await admin.call('POST', '/admin/v1/keys', request)
  }

  const exported = await runHere('export')
  const asked = await runHere('verify')
  const file = await verifyFile(exported.stdout)
  const piped = await run(['audit', 'verify', '-'], { stdin: Readable.from([exported.stdout]) })

  assert.equal(exported.exitCode, 0)
  assert.equal(exported.stdout.trimEnd().split('\n').length, 12)
  assert.match(asked.stdout, /^The audit is whole: 12 records\. The chain begins at 2026-/)
  assert.match(asked.stdout, /for --head:\n {2}[0-9a-f-]{36}:12:[0-9a-f]{64}\n$/)
  assert.deepEqual(
    [asked, file, piped].map(({ exitCode, stdout }) => [exitCode, stdout]),
    [asked, asked, asked].map(({ stdout }) => [0, stdout])
  )
  const head = /[0-9a-f-]{36}:12:[0-9a-f]{64}/.exec(asked.stdout)?.[0] ?? ''
  const withHead = await runHere('verify', '--head', head)
  assert.equal(withHead.exitCode, 0)
  const cut = exported.stdout.trimEnd().split('\n').slice(0, -1).join('\n')
  const tail = await verifyFile(cut, '--head', head)
  assert.equal(tail.exitCode, 1)
  assert.match(tail.stdout, /^The audit is not whole: record 12 .* missing .*: --head names it/)
})

async function page(query: string) {
  return await admin.app.inject({
    url: `/admin/v1/audit/export?${query}`,
    headers: bearer(adminKey),
  })
}

test('the export pages by a header and keeps to its range', async () => {
  const first = await page('limit=5')
  const next = String(first.headers['x-next'])
  const second = await page(`limit=100&after=${next}`)
  const empty = await runHere('export', '--to', '2020-01-01T00:00:00Z')

  assert.equal(first.headers['content-type'], 'application/x-ndjson; charset=utf-8')
  assert.equal(first.body.trimEnd().split('\n').length, 5)
  assert.equal(second.body.trimEnd().split('\n').length, 7)
  assert.equal(second.headers['x-next'], undefined)
  assert.deepEqual([empty.exitCode, empty.stdout], [0, ''])
  const reversed = await page('from=2026-03-02T00:00:00Z&to=2026-03-01T00:00:00Z')
  assert.equal(reversed.statusCode, 422)
})

/** A server whose answers are those of `answer`, by the number of the call. */
async function aServer(
  t: TestContext,
  answer: (call: number, response: ServerResponse) => void
): Promise<Readonly<Record<string, string>>> {
  let calls = 0
  const server = createServer((_request, response) => {
    calls += 1
    response.setHeader('content-type', 'application/x-ndjson')
    answer(calls, response)
  })
  t.after(() => server.close())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { SHELFTRACE_URL: `http://127.0.0.1:${port}`, SHELFTRACE_KEY: adminKey }
}

function limited(response: ServerResponse): void {
  response.writeHead(429, { 'retry-after': '0' }).end('{"messages":["wait"]}')
}

test('an export that reaches the limit of requests waits as it is told, and gives up in the end', async (t) => {
  let callCount = 0
  const patient = await aServer(t, (call, response) => {
    if (call < 4) limited(response)
    else response.end(linesOf(aChain(1)))
  })
  const hopeless = await aServer(t, (call, response) => {
    callCount = call
    limited(response)
  })

  const exported = await run(['audit', 'export'], { environment: patient })
  const refused = await run(['audit', 'export'], { environment: hopeless })

  assert.deepEqual([exported.exitCode, exported.stdout], [0, linesOf(aChain(1))])
  assert.deepEqual([refused.exitCode, callCount], [1, 5])
  assert.match(refused.stderr, /429/)
})

test('a record that was written late while the service was asked is no fault', async (t) => {
  const records = aChain(3)
  let callCount = 0
  const environment = await aServer(t, (call, response) => {
    callCount = call
    response.end(linesOf(call === 1 ? records.toSpliced(1, 1) : records))
  })

  const { exitCode, stdout } = await run(['audit', 'verify'], { environment })

  assert.deepEqual([exitCode, callCount], [0, 2], stdout)
})

test('what was changed in the warehouse is found by asking the service', async () => {
  await admin.warehouse.command(
    "ALTER TABLE audit UPDATE key_name = 'Eve' WHERE sequence = 7 SETTINGS mutations_sync = 1"
  )

  const { exitCode, stdout } = await runHere('verify')

  assert.equal(exitCode, 1)
  assert.match(
    stdout,
    /^The audit is not whole: record 7 of writer .* is not as it was written\.\n$/
  )
})

test('the first fault is named, whatever it is, and as JSON too', async () => {
  const records = aChain(5)
  const faults: readonly (readonly [string, readonly object[]])[] = [
    [
      'record 3 .* is not as it was written',
      records.with(2, { ...records[2], subject: 'x' } as ChainedRecord),
    ],
    ['record 2 .* is missing', records.toSpliced(1, 1)],
    ['record 5 .* stands there twice', [...records, ...records.slice(-1)]],
    ['record 1 .* stands in the wrong place', records.toReversed()],
  ]
  for (const [message, lines] of faults) {
    const { exitCode, stdout } = await verifyFile(linesOf(lines))
    assert.equal(exitCode, 1)
    assert.match(stdout, new RegExp(`^The audit is not whole: ${message}`))
  }
  const json = await verifyFile(linesOf(records.toSpliced(1, 1)), '--json')
  const whole = await verifyFile(linesOf(records), '--json')

  assert.deepEqual(JSON.parse(json.stdout).fault, {
    kind: 'missing',
    head: { writer, sequence: 2 },
  })
  assert.deepEqual(JSON.parse(whole.stdout), {
    fault: null,
    isWhole: true,
    recordCount: 5,
    unchainedCount: 0,
    beginsAt: '2026-03-01T00:00:01.000000Z',
    heads: [`${writer}:5:${records[4]?.hash}`],
  })
})

test('a part of the record is whole with --part, which goes with a file only', async () => {
  const part = linesOf(aChain(5).slice(2))

  assert.equal((await verifyFile(part)).exitCode, 1)
  assert.equal((await verifyFile(part, '--part')).exitCode, 0)
  assert.equal((await run(['audit', 'verify', '--part'])).exitCode, 2)
})

test('a file without a record proves nothing, unless it is a part', async () => {
  for (const content of ['', '\n\n']) {
    const { exitCode, stdout, stderr } = await verifyFile(content)
    assert.deepEqual([exitCode, stdout], [1, ''])
    assert.match(stderr, /The file has no record/u)
    assert.equal((await verifyFile(content, '--json')).exitCode, 1)
    assert.equal((await verifyFile(content, '--part')).exitCode, 0)
  }
  const cut = await verifyFile('', '--head', `${writer}:1:${'0'.repeat(64)}`)
  assert.equal(cut.exitCode, 1)
  assert.match(cut.stdout, /^The audit is not whole: record 1 /u)
})

test('an export is whole behind a byte order mark, and in UTF-16 or compressed it is told as that', async () => {
  const text = linesOf(aChain(3))
  assert.equal((await verifyFile(`\uFEFF${text}`)).exitCode, 0)
  for (const [bytes, told] of [
    [Buffer.from(`\uFEFF${text}`, 'utf16le'), 'The input is text in UTF-16 and must be in UTF-8.'],
    [gzipSync(text), 'The input is a gzip file: unpack it first.'],
    [
      Buffer.from(text.replace('"subject":"s"', '"subject":"\u00fc"'), 'latin1'),
      'Line 1 is no line of an export: it must be valid UTF-8.',
    ],
  ] as const) {
    const { exitCode, stderr } = await run(['audit', 'verify', await fileOf(bytes)])

    assert.deepEqual([exitCode, stderr], [1, `shelftrace: ${told}\n`])
  }
})

test('a file that is no export, a head that is none and a range that is none are told so', async () => {
  const cases: readonly (readonly [readonly string[], RegExp])[] = [
    [['verify', await fileOf('{')], /Line 1 is no line of an export: it is not JSON/],
    [['verify', await fileOf(`${linesOf(aChain(1))}{}\n`)], /Line 2 is no line of an export: /],
    [['verify', '/none'], /cannot be read/],
    [['verify', '--head', 'x'], /--head must be WRITER:SEQUENCE:HASH/],
    [['export', '--from', 'yesterday'], /--from must be an instant/],
  ]
  for (const [argv, message] of cases) {
    const { exitCode, stderr } = await run(['audit', ...argv])
    assert.ok(exitCode > 0)
    assert.match(stderr, message)
  }
  assert.equal(received.length, 0)
})

test('a refusal of the server ends the export with its words', async () => {
  answerWith(403, { messages: ['The key does not have the scope admin.'] })

  const { exitCode, stdout, stderr } = await run(['audit', 'export'])

  assert.deepEqual([exitCode, stdout], [1, ''])
  assert.match(stderr, /not allowed to do that \(403\)/)
})

test('a page that something else answers is no export', async () => {
  for (const html of ['<html>Please sign in</html>', '{}', '']) {
    answerText(200, html)
    for (const command of ['export', 'verify']) {
      const { exitCode, stdout, stderr } = await run(['audit', command])

      assert.deepEqual([exitCode, stdout], [1, ''])
      assert.match(stderr, /no export of the audit\. Is this the campaign port/u)
    }
  }
})
