import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeFrame, textBytes } from '../../src/spool/frame.ts'
import { backfilled, liveFrom } from '../../src/spool/record.ts'
import type { SpoolRecord } from '../../src/spool/record.ts'
import type { Spool } from '../../src/spool/spool.ts'
import { agreesWithModel, anEvent, emptyBatch, recordsOf, startMs } from './spool-model.ts'
import type { SpoolStorage } from './spool-model.ts'
import { brokenOf, entriesOf } from '../helpers/spooled.ts'
import type { SpoolBatch } from '../../src/spool/spool.ts'

interface SpoolContract {
  readonly name: string
  readonly start: () => Promise<SpoolStorage>
}

export function spoolContract({ name, start }: SpoolContract): void {
  const law = (guarantee: string, run: (storage: SpoolStorage) => Promise<void>): void => {
    test(`${name}: ${guarantee}`, async (t) => {
      const storage = await start()
      t.after(storage.dispose)
      await run(storage)
    })
  }

  law('a record is read as it was appended, whatever text it holds', keepsText)
  law('records of one turn share a frame and have keys of their own', sharesFrames)
  law('records are read in the order of appending, also when the clock steps back', readsInOrder)
  law('no key is used twice, also when the clock steps back over a reopening', neverRepeatsKeys)
  law('what was read and not removed is read again', readsAgain)
  law('remove forgets exactly what was read', removesExactly)
  law('reading on after a batch gives what follows it, removed or not', readsOn)
  law('removing a batch twice is harmless', removesTwice)
  law('a full spool refuses with SPOOL_FULL and takes again what was freed', refusesWhenFull)
  law('too many bytes in flight are refused, and later ones accepted', boundsInFlight)
  law('a record longer than a frame is kept whole', keepsLongRecords)
  law('a broken frame is handed over raw with its reason and removed like others', handsOverBroken)
  law('a turn of many records is cut into bounded frames', boundsFrames)
  law('close flushes what was appended, and refuses what comes after', closeFlushes)
  law('depth tells bytes and the oldest instant', tellsDepth)
  law(
    'appends, reads, removes and reopenings in any order lose and invent nothing',
    agreesWithModel
  )
}

async function keepsText(storage: SpoolStorage): Promise<void> {
  const spool = storage.open()
  const text = 'tab\t quote" line\n \u2028 \u{1f600} lone \ud800 nul \u0000'
  const records: SpoolRecord[] = [
    anEvent({ userAgent: text }),
    {
      type: 'conversion',
      receivedAtMs: startMs,
      publisherId: -1,
      siteId: 2_147_483_647,
      transactionId: text,
      userIdentity: '',
      loginIdentity: 'a'.repeat(32),
      currency: 'EUR',
      lines: [{ gtin: '0', groupId: '', brand: text, price: 5e-324, quantity: -3 }],
      origin: liveFrom('::1'),
      presentedKey: 'malformed',
    },
    {
      type: 'return',
      receivedAtMs: startMs,
      publisherId: -1,
      transactionId: text,
      returnId: text,
      lines: [{ gtin: '0', quantity: 2_147_483_647 }],
      origin: backfilled,
      presentedKey: 'none',
    },
  ]

  await Promise.all(records.map((record) => spool.append(record)))

  assert.deepEqual(recordsOf(spool.read(10)), records)
  await spool.close()
}

async function sharesFrames(storage: SpoolStorage): Promise<void> {
  const spool = storage.open()

  await appendAll(spool, 100)
  const batch = spool.read(1_000)

  assert.equal(batch.frames.length, 1)
  assert.equal(new Set(entriesOf(batch).map((entry) => entry.key)).size, 100)
  for (const entry of entriesOf(batch)) assert.match(entry.key, /^[0-9a-f]{32}$/)
  await spool.close()
}

async function readsInOrder(storage: SpoolStorage): Promise<void> {
  let nowMs = startMs
  const spool = storage.open({ clock: () => nowMs })

  for (const offsetMs of [5, 2, 9, 2]) {
    nowMs = startMs + offsetMs
    await spool.append(anEvent({ userAgent: `at ${offsetMs}` }))
  }

  const agents = recordsOf(spool.read(10)).map(
    (record) => 'userAgent' in record && record.userAgent
  )
  assert.deepEqual(agents, ['at 5', 'at 2', 'at 9', 'at 2'])
  await spool.close()
}

async function neverRepeatsKeys(storage: SpoolStorage): Promise<void> {
  for (let opening = 0; opening < 3; opening++) {
    const spool = storage.open({ clock: () => startMs })
    await appendAll(spool, 7)
    await appendAll(spool, 7)
    await spool.close()
  }

  const spool = storage.open()
  const entries = entriesOf(spool.read(1_000))
  assert.equal(entries.length, 42)
  assert.equal(new Set(entries.map((entry) => entry.key)).size, 42)
  await spool.close()
}

async function readsAgain(storage: SpoolStorage): Promise<void> {
  const spool = storage.open()
  await appendAll(spool, 3)
  const first = entriesOf(spool.read(10))
  await spool.close()

  const reopened = storage.open()
  assert.deepEqual(entriesOf(reopened.read(10)), first)
  assert.deepEqual(entriesOf(reopened.read(10)), first)
  await reopened.close()
}

async function removesExactly(storage: SpoolStorage): Promise<void> {
  const spool = storage.open()
  for (let index = 0; index < 5; index++) await spool.append(anEvent({ userAgent: `${index}` }))
  const oldest = spool.read(2)
  await spool.append(anEvent({ userAgent: '5' }))

  await spool.remove(oldest)

  assert.equal(oldest.frames.length, 2)
  const left = recordsOf(spool.read(10)).map((record) => 'userAgent' in record && record.userAgent)
  assert.deepEqual(left, ['2', '3', '4', '5'])
  await spool.close()
}

function agentsOf(batch: SpoolBatch): readonly string[] {
  return recordsOf(batch).map((record) => ('userAgent' in record ? record.userAgent : ''))
}

async function readsOn(storage: SpoolStorage): Promise<void> {
  const spool = storage.open()
  for (let index = 0; index < 4; index += 1) {
    await spool.append(anEvent({ userAgent: `${index}` }))
  }

  const first = spool.read(1)
  const second = spool.read(2, first)
  const third = spool.read(10, second)
  assert.deepEqual([first, second, third].map(agentsOf), [['0'], ['1', '2'], ['3']])
  assert.deepEqual(spool.read(10, third).frames, [])
  assert.deepEqual(agentsOf(spool.read(10)), ['0', '1', '2', '3'])

  await spool.append(anEvent({ userAgent: '4' }))
  assert.deepEqual(agentsOf(spool.read(10, third)), ['4'])
  await spool.remove(first)
  assert.deepEqual(agentsOf(spool.read(10, second)), ['3', '4'])
  await spool.remove(second)
  assert.deepEqual(agentsOf(spool.read(10, second)), ['3', '4'])
  assert.deepEqual(agentsOf(spool.read(10)), ['3', '4'])
  await spool.close()
}

async function removesTwice(storage: SpoolStorage): Promise<void> {
  const spool = storage.open()
  await appendAll(spool, 2)
  const batch = spool.read(10)

  await spool.remove(batch)
  await appendAll(spool, 3)
  await spool.remove(batch)
  await spool.remove(emptyBatch)

  assert.equal(entriesOf(spool.read(10)).length, 3)
  await spool.close()
}

async function refusesWhenFull(storage: SpoolStorage): Promise<void> {
  const spool = storage.open({ bytesMax: 200_000 })
  const large = anEvent({ userAgent: 'x'.repeat(20_000) })
  const fill = async (): Promise<number> => {
    for (let count = 0; ; count++) {
      const refusal = await spool.append(large).then(() => null, codeOf)
      if (refusal === null) continue
      assert.equal(refusal, 'SPOOL_FULL')
      return count
    }
  }

  const firstCount = await fill()
  assert.ok(firstCount > 3 && firstCount <= 10, `${firstCount} records`)
  assert.ok(spool.depth().bytes <= 200_000)
  assert.equal(entriesOf(spool.read(100)).length, firstCount)
  for (let round = 0; round < 5; round++) {
    await spool.remove(spool.read(100))
    assert.equal(await fill(), firstCount)
  }
  await spool.close()
}

async function boundsInFlight(storage: SpoolStorage): Promise<void> {
  const spool = storage.open({ inFlightBytesMax: 10_000 })
  const large = anEvent({ userAgent: 'x'.repeat(3_000) })

  const outcomes = await Promise.allSettled([1, 2, 3, 4].map(() => spool.append(large)))
  const refused = outcomes.flatMap((outcome) =>
    outcome.status === 'rejected' ? [codeOf(outcome.reason)] : []
  )

  assert.deepEqual(refused, ['SPOOL_FULL'])
  await spool.append(large)
  assert.equal(entriesOf(spool.read(10)).length, 4)
  await spool.close()
}

async function keepsLongRecords(storage: SpoolStorage): Promise<void> {
  const spool = storage.open()
  const record = anEvent({ userAgent: 'ä'.repeat(1_000_000) })

  await Promise.all([appendAll(spool, 2), spool.append(record), appendAll(spool, 2)])

  assert.equal(entriesOf(spool.read(10)).length, 5)
  assert.equal(spool.read(10).frames.length, 3)
  assert.deepEqual(recordsOf(spool.read(10))[2], record)
  await spool.close()
}

async function handsOverBroken(storage: SpoolStorage): Promise<void> {
  const good = encode([anEvent({})])
  const bitFlipped = Buffer.from(good)
  bitFlipped[40] = (bitFlipped[40] ?? 0) ^ 1
  const planted: readonly (readonly [key: string, frame: Buffer, reason: RegExp])[] = [
    [keyOf(1), Buffer.from([1, 2]), /shorter/],
    [keyOf(2), Buffer.concat([Buffer.from([9]), good.subarray(1)]), /version 9/],
    [keyOf(3), bitFlipped, /checksum/],
    [keyOf(4), good.subarray(0, -1), /checksum/],
    [keyOf(5), encodeFrame(['{'], 2 + 1), /not JSON/],
    [keyOf(6), encodeFrame(['{"type":"later"}'], 16 + 2), /unknown type/],
    [keyOf(7), encodeFrame(['1,2'], 5), /another count/],
  ]
  for (const [key, frame] of planted) await storage.plant(key, frame)
  await storage.plant(keyOf(8), good)
  const spool = storage.open()

  const batch = spool.read(100)

  assert.equal(entriesOf(batch).length, 1)
  assert.equal(brokenOf(batch).length, planted.length)
  for (const [index, [key, frame, reason]] of planted.entries()) {
    assert.equal(brokenOf(batch)[index]?.key, key)
    assert.deepEqual(Buffer.from(brokenOf(batch)[index]?.bytes ?? []), frame)
    assert.match(brokenOf(batch)[index]?.reason ?? '', reason)
  }
  await spool.remove(batch)
  assert.equal(spool.depth().bytes, 0)
  await spool.close()
}

async function boundsFrames(storage: SpoolStorage): Promise<void> {
  const spool = storage.open()

  await Promise.all([
    appendAll(spool, 2_500),
    ...Array.from({ length: 30 }, () => spool.append(anEvent({ userAgent: 'x'.repeat(50_000) }))),
  ])

  const batch = spool.read(10_000)
  const { frames } = batch
  const entries = entriesOf(batch)
  assert.equal(entries.length, 2_530)
  assert.ok(frames.length >= 8, `${frames.length} frames`)
  assert.equal(new Set(entries.map((entry) => entry.key)).size, 2_530)
  assert.ok(entriesOf(spool.read(1)).length <= 1_000)
  await spool.close()
}

async function closeFlushes(storage: SpoolStorage): Promise<void> {
  const spool = storage.open()
  const appended = appendAll(spool, 10)
  const closed = spool.close()

  const refusal = await spool.append(anEvent({})).then(() => null, codeOf)
  await Promise.all([appended, closed, spool.close()])

  assert.equal(refusal, 'SPOOL_UNAVAILABLE')
  const reopened = storage.open()
  assert.equal(entriesOf(reopened.read(100)).length, 10)
  await reopened.close()
}

async function tellsDepth(storage: SpoolStorage): Promise<void> {
  let nowMs = startMs
  const spool = storage.open({ clock: () => nowMs })
  assert.deepEqual(spool.depth(), { bytes: 0, oldestAtMs: null })

  await appendAll(spool, 3)
  nowMs += 1_000
  await appendAll(spool, 3)

  const depth = spool.depth()
  assert.equal(depth.oldestAtMs, startMs)
  assert.ok(depth.bytes > 0)
  await spool.remove(spool.read(3))
  assert.equal(spool.depth().oldestAtMs, startMs + 1_000)
  await spool.close()
}

async function appendAll(spool: Spool, count: number): Promise<void> {
  await Promise.all(Array.from({ length: count }, () => spool.append(anEvent({}))))
}

function encode(records: readonly SpoolRecord[]): Buffer {
  const texts = records.map((record) => JSON.stringify(record))
  return encodeFrame(
    texts,
    texts.reduce((sum, text) => sum + textBytes(text), 1)
  )
}

function keyOf(serial: number): string {
  return serial.toString(16).padStart(32, '0')
}

export function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : error
}
