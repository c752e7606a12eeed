import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import fc from 'fast-check'
import { lineBytesMax, readLines } from '../../../src/campaign/admin/line-reader.ts'

async function collect(chunks: readonly Buffer[]): Promise<(string | null)[]> {
  const lines: (string | null)[] = []
  for await (const block of readLines(Readable.from(chunks))) {
    for (const { number, bytes } of block) {
      assert.equal(number, lines.length + 1)
      lines.push(bytes === null ? null : bytes.toString())
    }
  }
  return lines
}

test('lines are the same however the stream was cut into chunks', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.stringMatching(/^[a-zä]{0,5}$/), { maxLength: 8 }),
      fc.array(fc.nat({ max: 30 }), { maxLength: 6 }),
      async (texts, cuts) => {
        const whole = Buffer.from(texts.map((text) => `${text}\n`).join(''))
        const points = [0, ...cuts.toSorted((one, other) => one - other), whole.length]
        const chunks = points.slice(1).map((end, index) => whole.subarray(points[index], end))

        assert.deepEqual(await collect(chunks), texts)
      }
    )
  )
})

test('a last line without an end counts, an empty stream has none', async () => {
  assert.deepEqual(await collect([Buffer.from('a\nb')]), ['a', 'b'])
  assert.deepEqual(await collect([Buffer.from('a\n\n')]), ['a', ''])
  assert.deepEqual(await collect([]), [])
})

test('the end mark of DOS ends the text, on a line of its own and behind the last one, and nowhere else', async () => {
  assert.deepEqual(await collect([Buffer.from('a\r\nb\r\n\x1a')]), ['a\r', 'b\r'])
  assert.deepEqual(await collect([Buffer.from('a\nb\x1a\x1a')]), ['a', 'b'])
  assert.deepEqual(await collect([Buffer.from('a\nb\x1a'), Buffer.from('\x1a')]), ['a', 'b'])
  assert.deepEqual(await collect([Buffer.from('\x1a')]), [])
  assert.deepEqual(await collect([Buffer.from('a\x1ab\nc')]), ['a\x1ab', 'c'])
})

test('a line that is too long is skipped, and those around it are read', async () => {
  const long = Buffer.alloc(lineBytesMax + 1, 0x61)
  const parts = [Buffer.from('a\n'), long.subarray(0, 500_000), long.subarray(500_000)]

  const lines = await collect([...parts, Buffer.from('\nb\n'), long.subarray(1), Buffer.from('\n')])

  assert.deepEqual(
    lines.map((line) => (line === null ? null : line.length)),
    [1, null, 1, lineBytesMax]
  )
})

test('a megabyte of line ends is a million numbered lines without a buffer for each', async () => {
  const buffers = new Set<Buffer | null>()
  let last = 0

  for await (const block of readLines(Readable.from([Buffer.alloc(1_048_576, '\n')]))) {
    for (const { number, bytes } of block) {
      buffers.add(bytes)
      last = number
    }
  }

  assert.equal(last, 1_048_576)
  assert.equal(buffers.size, 1)
})

async function collectFeed(chunks: readonly Buffer[]): Promise<(string | null)[]> {
  const lines: (string | null)[] = []
  for await (const block of readLines(Readable.from(chunks), { mayEndInCarriageReturns: true })) {
    for (const { number, bytes } of block) {
      assert.equal(number, lines.length + 1)
      lines.push(bytes === null ? null : bytes.toString())
    }
  }
  return lines
}

for (const [name, end, rest] of [
  ['carriage returns', '\r', ''],
  ['line feeds', '\n', ''],
  ['both', '\r\n', '\r'],
] as const) {
  test(`the first line end tells that all are ${name}, however the stream was cut`, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.stringMatching(/^[a-z]{0,5}$/), { minLength: 1, maxLength: 6 }),
        fc.array(fc.nat({ max: 30 }), { maxLength: 6 }),
        async (texts, cuts) => {
          // A blank line of carriage returns would be two ends that look like one of both.
          const whole = Buffer.from(texts.map((text) => `x${text}${end}`).join(''))
          const points = [0, ...cuts.toSorted((one, other) => one - other), whole.length]
          const chunks = points.slice(1).map((to, index) => whole.subarray(points[index], to))

          assert.deepEqual(
            await collectFeed(chunks),
            texts.map((text) => `x${text}${rest}`)
          )
        }
      )
    )
  })
}

test('a carriage return at the very end is a line end, and one inside of a later line is text', async () => {
  assert.deepEqual(await collectFeed([Buffer.from('a\r')]), ['a'])
  assert.deepEqual(await collectFeed([Buffer.from('a\nb\rc\n')]), ['a', 'b\rc'])
  assert.deepEqual(await collectFeed([Buffer.from('a')]), ['a'])
})
