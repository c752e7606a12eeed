import assert from 'node:assert/strict'
import { Readable, Writable } from 'node:stream'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { placement } from '../helpers/placement.ts'
import { answerBy, answerWith, fileOf, received, run, useCliServer } from './harness.ts'

useCliServer()

const ad = { ...placement, gtin: '4006381333931', userId: 'shopper-2' }

/** A link that shows which ad it is for. */
function linkOf(gtin: string) {
  return {
    servedAdId: '3f2504e0-4f89-41d3-9a0c-0305e82c3301',
    trackingData: gtin,
    impressionUrl: `https://t/impression/${gtin}`,
    clickUrl: `https://t/click/${gtin}`,
    loadUrl: `https://t/load/${gtin}`,
  }
}

function gtinsOf(body: string): readonly string[] {
  const { links }: { links: { gtin: string }[] } = JSON.parse(body)
  return links.map(({ gtin }) => gtin)
}

/** Mints all ads but those whose GTIN begins with x, which it names, at most so many at a time. */
function mintLikeTheService(messagesMax = 100): void {
  answerBy((body) => {
    const gtins = gtinsOf(body)
    const messages = gtins.flatMap((gtin, index) =>
      gtin.startsWith('x') ? [`/links/${index}/gtin is no longer active`] : []
    )
    return messages.length > 0
      ? { status: 422, json: { messages: messages.slice(0, messagesMax) } }
      : { status: 200, json: { links: gtins.map(linkOf) } }
  })
}

function lineOf(gtin: string): string {
  return `${JSON.stringify({ ...ad, gtin })}\n`
}

interface Printed {
  readonly line: number
  readonly trackingData: string
}

function parseLines(text: string): readonly Printed[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
}

test('30,000 ads as NDJSON are minted in batches, in their order, as NDJSON with the numbers of their lines', async () => {
  mintLikeTheService()
  const numbers = Array.from({ length: 30_000 }, (_, index) => index + 1)
  const path = await fileOf(numbers.map((number) => lineOf(String(number))).join(''))

  const { exitCode, stdout, stderr } = await run(['links', 'mint', path])

  assert.equal(exitCode, 0)
  assert.deepEqual(
    parseLines(stdout).map(({ line, trackingData }) => [line, trackingData]),
    numbers.map((number) => [number, String(number)])
  )
  assert.equal(received.length, 30)
  assert.ok(received.every(({ body }) => Buffer.byteLength(body) <= 1_048_576))
  assert.equal(stderr, '30,000 ads minted, 0 refused.\n')
})

test('a batch is within the bytes of a body, too', async () => {
  mintLikeTheService()
  const userId = 'u'.repeat(128)
  const landingUrl = `https://shop.example/${'p'.repeat(2_000)}`
  const line = `${JSON.stringify({ ...ad, userId, landingUrl })}\n`

  const { stdout } = await run(['links', 'mint', '-'], {
    stdin: Readable.from(Array.from({ length: 900 }, () => line)),
  })

  assert.equal(parseLines(stdout).length, 900)
  assert.ok(received.length > 1)
  assert.ok(received.every(({ body }) => Buffer.byteLength(body) <= 1_048_576))
})

test('refused lines are named by number, and the others are minted', async () => {
  mintLikeTheService(1)
  const lines = ['\uFEFF', lineOf('1'), '\r\n', '{"gtin"\n', lineOf('x1'), lineOf('2')]
  const rest = ['[]\n', `{"a":"${'x'.repeat(1_100_000)}"}\n`, lineOf('x2'), lineOf('3').trimEnd()]

  const { exitCode, stdout, stderr } = await run(['links', 'mint', '-'], {
    stdin: Readable.from([...lines, ...rest]),
  })

  assert.equal(exitCode, 1)
  assert.deepEqual(
    parseLines(stdout).map(({ line, trackingData }) => [line, trackingData]),
    [
      [1, '1'],
      [5, '2'],
      [9, '3'],
    ]
  )
  for (const told of [
    /^line 3: it is not JSON$/mu,
    /^line 4: \/gtin is no longer active$/mu,
    /^line 6: it must be object$/mu,
    /^line 7: it is longer than 1 MiB$/mu,
    /^line 8: \/gtin is no longer active$/mu,
    /^3 ads minted, 5 refused\.$/mu,
  ]) {
    assert.match(stderr, told)
  }
})

test('ads in another encoding than UTF-8 are refused by the number of their line', async () => {
  mintLikeTheService()
  const shopper = JSON.stringify({ ...ad, userId: 'M\u00fcller' })
  const others = [Buffer.from(`${shopper}\n`, 'latin1'), Buffer.from([0xff, 0x0a])]

  const lines = await run(['links', 'mint', '-'], {
    stdin: Readable.from([others[0], lineOf('1'), `${shopper}\n`, others[1]]),
  })

  assert.equal(lines.exitCode, 1)
  assert.deepEqual(
    parseLines(lines.stdout).map(({ line }) => line),
    [2, 3]
  )
  assert.match(lines.stderr, /^line 1: it must be valid UTF-8$/mu)
  assert.match(lines.stderr, /^line 4: it must be valid UTF-8$/mu)
  assert.match(lines.stderr, /^2 ads minted, 2 refused\.$/mu)
  assert.match(received[0]?.body ?? '', /M\u00fcller/u)
})

test('ads in UTF-16 or in a compressed file are told as such, once', async () => {
  mintLikeTheService()
  const text = lineOf('1').repeat(3)
  for (const [bytes, told] of [
    [Buffer.from(text, 'utf16le'), 'is text in UTF-16 and must be in UTF-8'],
    [Buffer.from(`\uFEFF${text}`, 'utf16le'), 'is text in UTF-16 and must be in UTF-8'],
    [gzipSync(text, { level: 0 }), 'is a gzip file: unpack it first'],
  ] as const) {
    const { exitCode, stdout, stderr } = await run(['links', 'mint', await fileOf(bytes)])

    assert.deepEqual([exitCode, stdout, stderr], [1, '', `shelftrace: The input ${told}.\n`])
  }
  assert.deepEqual(received, [])
})

test('a document in another encoding than UTF-8 is refused, since its ads cannot be told apart', async () => {
  mintLikeTheService()
  const shopper = JSON.stringify({ ...ad, userId: 'M\u00fcller' })
  const document = Buffer.from(`{"links":[\n${shopper}\n]}\n`, 'latin1')

  const { exitCode, stderr } = await run(['links', 'mint', await fileOf(document)])

  assert.equal(exitCode, 1)
  assert.match(stderr, /line 2: it must be valid UTF-8/u)
  assert.deepEqual(received, [])
})

test('an ad that the contract refuses is not sent, and its fault names the field', async () => {
  mintLikeTheService()
  const misspelt = JSON.stringify({ ...ad, servedat: '2026-03-02T10:00:00Z' })

  const { exitCode, stderr } = await run(['links', 'mint', '-'], {
    stdin: Readable.from([`${misspelt}\n`]),
  })

  assert.equal(exitCode, 1)
  assert.match(stderr, /^line 1: \/servedat .*servedAt/mu)
  assert.deepEqual(received, [])
})

test('a document of any length is minted like the lines, as text or as one document', async () => {
  mintLikeTheService()
  const ads = ['1', 'x', ...Array.from({ length: 1_500 }, () => '2')]
  const document = JSON.stringify(
    { links: ads.map((gtin) => Object.assign({}, ad, { gtin })) },
    null,
    2
  )
  const asJson = ['links', 'mint', '-', '--json']

  const text = await run(['links', 'mint', '-'], { stdin: Readable.from([document]) })
  const json = await run(asJson, { stdin: Readable.from([document]) })

  assert.equal(received[0]?.url, '/admin/v1/tracking-links')
  assert.match(text.stdout, /^3f2504e0.*\n {2}impression {2}https:\/\/t\/impression\/1\n {2}click/u)
  assert.match(text.stderr, /^\/links\/1: \/gtin is no longer active\n1,501 ads minted, 1 refused/u)
  const { links }: { links: unknown[] } = JSON.parse(json.stdout)
  assert.equal(links.length, 1_501)
  assert.deepEqual(links[0], linkOf('1'))
  assert.deepEqual([text.exitCode, json.exitCode], [1, 1])
})

test('an input without any ad, and one that is neither form, are told so', async () => {
  for (const [text, told] of [
    ['', /There is no ad in the input/u],
    ['\n\n', /There is no ad in the input/u],
    ['{"links":[]}', /There is no ad in the input/u],
    ['{\n"ads":[]}', /neither \{"links"/u],
    ['{"links":[}', /neither \{"links"/u],
  ] as const) {
    const { exitCode, stderr } = await run(['links', 'mint', '-'], { stdin: Readable.from([text]) })
    assert.equal(exitCode, 1)
    assert.match(stderr, told)
  }
  assert.deepEqual(received, [])
})

test('what was minted before a failure is printed and counted', async () => {
  let calls = 0
  answerBy((body) => {
    calls += 1
    return calls === 1
      ? { status: 200, json: { links: gtinsOf(body).map(linkOf) } }
      : { status: 503, json: { messages: ['later'] } }
  })
  const lines = Array.from({ length: 1_001 }, (_, index) => lineOf(String(index)))

  const { exitCode, stdout, stderr } = await run(['links', 'mint', '-'], {
    stdin: Readable.from(lines),
  })

  assert.equal(exitCode, 1)
  assert.equal(parseLines(stdout).length, 1_000)
  assert.match(stderr, /^1,000 ads minted, 0 refused\.\nshelftrace: The server answered 503/u)
})

test('a refusal that is about no single ad is told as it is', async () => {
  for (const messages of [['body must have at most 5 bytes'], ['/links/7/gtin is no more']]) {
    answerWith(422, { messages })
    const { exitCode, stderr } = await run(['links', 'mint', '-'], {
      stdin: Readable.from([lineOf('1')]),
    })
    assert.equal(exitCode, 1)
    assert.ok(stderr.includes((messages[0] ?? '').replace('body', 'the file')))
  }
  assert.equal(received.length, 2)
})

test('minting stops quietly when nobody reads on, however much there is to mint', async () => {
  mintLikeTheService()
  let lineCount = 0
  const endless = new Readable({
    read() {
      lineCount += 1
      this.push(lineCount > 100_000 ? null : lineOf(String(lineCount)))
    },
  })
  const gone = new Writable({
    write: (_chunk, _encoding, done) => {
      done(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }))
    },
  })

  const { exitCode, stderr } = await run(['links', 'mint', '-'], { stdin: endless, stdout: gone })

  assert.deepEqual([exitCode, stderr], [0, ''])
  assert.equal(received.length, 1)
  assert.ok(lineCount < 10_000)
})

test('a terminal is told how far it is, on one line', async () => {
  mintLikeTheService()
  const lines = Array.from({ length: 1_001 }, (_, index) => lineOf(String(index)))

  const { stderr } = await run(['links', 'mint', '-'], {
    stdin: Readable.from(lines),
    isTTY: true,
  })

  assert.ok(stderr.includes('\r\u001b[K1,000 ads minted'))
  assert.ok(stderr.endsWith('\r\u001b[K1,001 ads minted, 0 refused.\n'))
})
