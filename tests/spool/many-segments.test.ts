// An outage of a day leaves thousands of segments. What is done several times a second must not look at
// each of them. Calls of the file system are counted, since times are noise.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { openFileSpool } from '../../src/spool/file-spool.ts'
import { emptyPayloadBytes, encodeFrame, textBytes } from '../../src/spool/frame.ts'
import { recordText } from '../../src/spool/record-text.ts'
import { encodeEntryHeader, segmentName } from '../../src/spool/segment.ts'
import { SegmentReader } from '../../src/spool/segment-reader.ts'
import { anEvent } from '../contracts/spool-model.ts'
import { entriesOf } from '../helpers/spooled.ts'

const startMs = 1_000_000_000
// Below what makes listing rarer, so that changes are seen at once.
const segmentsMax = 900
/** A day later. */
const clock = (): number => startMs + 86_400_000
const counted = ['statSync', 'openSync', 'readFileSync', 'readdirSync', 'readSync'] as const

function aFolder(t: TestContext, segmentCount: number): string {
  const path = fs.mkdtempSync(join(tmpdir(), 'shelftrace-spool-'))
  t.after(() => fs.rmSync(path, { recursive: true }))
  for (let serial = 1; serial <= segmentCount; serial += 1) plant(path, serial)
  // As long ago as the outage began, so that the folder counts as unchanged.
  fs.utimesSync(path, new Date(startMs), new Date(startMs))
  return path
}

/** A writer that begins a segment each second, with one record in it. */
function plant(path: string, serial: number): void {
  const createdAtMs = startMs + serial * 1_000
  const text = recordText(anEvent({ userAgent: String(serial) }))
  const frame = encodeFrame([text], emptyPayloadBytes + textBytes(text))
  const key = Buffer.alloc(16)
  key.writeUIntBE(createdAtMs, 0, 6)
  key.writeUInt32BE(serial, 12)
  const entry = Buffer.concat([encodeEntryHeader(key, frame.length), frame])
  fs.writeFileSync(join(path, segmentName(createdAtMs, 'a'.repeat(12), serial)), entry)
}

/** How often each call was made while the work was done. */
async function countCalls(t: TestContext, work: () => unknown): Promise<Record<string, number>> {
  const mocks = counted.map((call) => t.mock.method(fs, call))
  syncBuiltinESMExports()
  try {
    await work()
    return Object.fromEntries(mocks.map((mock, index) => [counted[index], mock.mock.callCount()]))
  } finally {
    for (const mock of mocks) mock.mock.restore()
    syncBuiltinESMExports()
  }
}

function sum(calls: Record<string, number>): number {
  return Object.values(calls).reduce((total, count) => total + count, 0)
}

test('how much waits and since when is told without a look at each segment', async (t) => {
  const path = aFolder(t, segmentsMax)
  const reader = new SegmentReader(path, clock)
  const before = reader.depth()

  const calls = await countCalls(t, () => {
    assert.deepEqual(reader.depth(), before)
    assert.equal(reader.liveBytes(), before.bytes)
  })

  assert.equal(before.oldestAtMs, startMs + 1_000)
  assert.ok(before.bytes > segmentsMax * 100)
  assert.equal(calls['readdirSync'], 0)
  assert.ok(sum(calls) < 10, JSON.stringify(calls))
})

test('a tracker that looks for room looks at no segment that nobody writes to', async (t) => {
  const path = aFolder(t, segmentsMax)
  const reader = new SegmentReader(path, clock)
  const before = reader.liveBytes()
  plant(path, segmentsMax + 1)

  const calls = await countCalls(t, () => reader.liveBytes())

  assert.ok(reader.liveBytes() > before, 'a new segment is noticed')
  assert.ok((calls['readdirSync'] ?? 0) <= 1)
  assert.ok(sum(calls) < 10, JSON.stringify(calls))
})

test('what another process removes is noticed, by looking at its notes alone', async (t) => {
  const path = aFolder(t, segmentsMax)
  const looker = new SegmentReader(path, clock)
  const before = looker.liveBytes()
  const remover = openFileSpool({ path, bytesMax: 1e9, clock })
  t.after(() => remover.close())

  await remover.remove(remover.read(10))

  const calls = await countCalls(t, () => looker.liveBytes())
  assert.equal(looker.liveBytes(), remover.depth().bytes)
  assert.ok(looker.liveBytes() < before)
  assert.ok(sum(calls) < 50, JSON.stringify(calls))
})

test('a batch costs looks at its own segments, also behind thousands that were shipped', async (t) => {
  const path = aFolder(t, segmentsMax)
  const spool = openFileSpool({ path, bytesMax: 1e9, clock })
  t.after(() => spool.close())
  const costs: number[] = []

  for (let batchCount = 0; batchCount < 8; batchCount += 1) {
    const calls = await countCalls(t, async () => {
      const batch = spool.read(100)
      assert.equal(entriesOf(batch).length, 100)
      await spool.remove(batch)
    })
    costs.push(sum(calls))
  }

  // Of each of the hundred: opening, header, frame, and what deleting it takes.
  assert.ok(Math.max(...costs.slice(1)) < 100 * 20, costs.join())
  assert.equal(fs.readdirSync(path).length, segmentsMax - 800, 'what is shipped is deleted')
})

test('the oldest append is found in a segment that was begun a little later than another', (t) => {
  const path = aFolder(t, 0)
  for (const [createdAtMs, opening, atMs] of [
    [startMs + 5, 'a', startMs + 4],
    [startMs + 9, 'b', startMs + 2],
  ] as const) {
    const key = Buffer.alloc(16)
    key.writeUIntBE(atMs, 0, 6)
    const frame = encodeFrame([], 2)
    const entry = Buffer.concat([encodeEntryHeader(key, frame.length), frame])
    fs.writeFileSync(join(path, segmentName(createdAtMs, opening.repeat(12), 1)), entry)
  }

  assert.equal(new SegmentReader(path, () => startMs).depth().oldestAtMs, startMs + 2)
})
