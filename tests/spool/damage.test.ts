// Disks that change what was written: what is whole is read once, whatever lies beside it.

import assert from 'node:assert/strict'
import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { openFileSpool } from '../../src/spool/file-spool.ts'
import type { FileSpool } from '../../src/spool/file-spool.ts'
import { emptyPayloadBytes, encodeFrame, textBytes } from '../../src/spool/frame.ts'
import { recordText } from '../../src/spool/record-text.ts'
import {
  encodeEntryHeader,
  entryHeaderBytes,
  findEntry,
  segmentName,
} from '../../src/spool/segment.ts'
import { anEvent } from '../contracts/spool-model.ts'
import { brokenOf, entriesOf } from '../helpers/spooled.ts'
import { emptyBatch } from '../contracts/spool-model.ts'

const createdAtMs = 1_000_000
const longAfterMs = createdAtMs + 600_000
const name = segmentName(createdAtMs, '0'.repeat(12), 1)

/** Small, so that every position can be tried. */
const names = ['a', 'b', 'c', 'd']
const entries = names.map((userAgent, index) => anEntry(userAgent, index + 1))
const whole = Buffer.concat(entries)
const ends = entries.map((_, index) => Buffer.concat(entries.slice(0, index + 1)).length)

function anEntry(userAgent: string, serial: number): Buffer {
  const text = recordText(anEvent({ userAgent, trackingData: 'AQ' }))
  const frame = encodeFrame([text], emptyPayloadBytes + textBytes(text))
  return Buffer.concat([encodeEntryHeader(Buffer.alloc(16, serial), frame.length), frame])
}

/** The names of entries no byte of which lies in the range. */
function untouched(from: number, to: number): string[] {
  return names.filter((_, index) => (ends[index - 1] ?? 0) >= to || (ends[index] ?? 0) <= from)
}

interface Read {
  readonly agents: readonly string[]
  readonly brokenBytes: number
}

/** In batches of one frame, each removed, to the end. */
async function drain(spool: FileSpool): Promise<Read> {
  const agents: string[] = []
  let brokenBytes = 0
  for (let batch = spool.read(1); batch.frames.length > 0; batch = spool.read(1)) {
    for (const { record } of entriesOf(batch)) {
      if (record.type === 'ad-event') agents.push(record.userAgent)
    }
    for (const { bytes } of brokenOf(batch)) brokenBytes += bytes.length
    await spool.remove(batch)
  }
  return { agents, brokenBytes }
}

async function readDamaged(bytes: Buffer): Promise<Read> {
  const path = mkdtempSync(join(tmpdir(), 'shelftrace-spool-'))
  try {
    writeFileSync(join(path, name), bytes)
    const spool = openFileSpool({ path, bytesMax: 1e9, clock: () => longAfterMs })
    const read = await drain(spool)
    await spool.remove(emptyBatch)
    await spool.close()
    assert.deepEqual(readdirSync(path), [], 'the segment is done')
    return read
  } finally {
    rmSync(path, { recursive: true })
  }
}

/** A header tells nothing that its frame needs, so where it alone is damaged the record is read too. */
function assertReadOnce({ agents }: Read, expected: readonly string[], what: string): void {
  assert.equal(new Set(agents).size, agents.length, `${what}: twice`)
  for (const agent of expected) assert.ok(agents.includes(agent), `${what}: ${agent} is lost`)
}

test('a flipped bit at any position costs the entry that it is in at most', async () => {
  for (let at = 0; at < whole.length; at += 1) {
    const bytes = Buffer.from(whole)
    bytes[at] = (bytes[at] ?? 0) ^ (1 << (at % 8))

    assertReadOnce(await readDamaged(bytes), untouched(at, at + 1), `bit at ${at}`)
  }
})

test('a zeroed range anywhere costs the entries that it touches at most', async () => {
  for (let at = 0; at < whole.length; at += 3) {
    for (const length of [4, 40, 200]) {
      const bytes = Buffer.from(whole).fill(0, at, Math.min(at + length, whole.length))

      assertReadOnce(await readDamaged(bytes), untouched(at, at + length), `${length} at ${at}`)
    }
  }
})

test('a range that is cut out anywhere costs the entries that it touches at most', async () => {
  for (let at = 0; at < whole.length; at += 3) {
    for (const length of [1, 27, 40, 200]) {
      const bytes = Buffer.concat([whole.subarray(0, at), whole.subarray(at + length)])

      assertReadOnce(await readDamaged(bytes), untouched(at, at + length), `${length} at ${at}`)
    }
  }
})

test('a damaged header alone loses no record', async () => {
  for (let at = 0; at < entryHeaderBytes; at += 1) {
    const bytes = Buffer.from(whole)
    const place = (ends[0] ?? 0) + at
    bytes[place] = (bytes[place] ?? 0) ^ 0x10

    const { agents, brokenBytes } = await readDamaged(bytes)

    assert.deepEqual(agents, names)
    assert.equal(brokenBytes, 0)
  }
})

test('only the damaged bytes are handed over, all of them', async () => {
  const damaged = Buffer.concat([whole, Buffer.alloc(64, 7), whole, Buffer.alloc(32, 7)])

  const { agents, brokenBytes } = await readDamaged(damaged)

  assert.deepEqual(agents, [...names, ...names])
  assert.equal(brokenBytes, 96)
})

test('no text of a record passes for the header of an entry', () => {
  // The bytes of a header in a text: those below a blank are escaped, and 0x00 is one of them.
  const header = encodeEntryHeader(Buffer.alloc(16, 0x41), 0x41_41_41).toString('latin1')
  const forged = encodeEntryHeader(Buffer.alloc(16, 0x41), 0x41_41_41_41).toString('latin1')

  for (const userAgent of [header, forged]) {
    const text = recordText(anEvent({ userAgent }))
    for (const encoding of ['utf8', 'latin1'] as const) {
      assert.equal(findEntry(Buffer.from(text, encoding), 0), -1)
    }
  }
})

async function anOpenSegment(t: TestContext, bytes: Buffer) {
  const path = mkdtempSync(join(tmpdir(), 'shelftrace-spool-'))
  const at = { ms: createdAtMs }
  writeFileSync(join(path, name), bytes)
  const spool = openFileSpool({ path, bytesMax: 1e9, clock: () => at.ms })
  t.after(async () => {
    await spool.close()
    rmSync(path, { recursive: true })
  })
  return { spool, at, file: join(path, name) }
}

test('behind damage in a segment that is still written, reading waits for the next whole entry', async (t) => {
  const [a, b, c, d] = entries
  assert.ok(a !== undefined && b !== undefined && c !== undefined && d !== undefined)
  const junk = Buffer.alloc(64, 7)
  const { spool, file } = await anOpenSegment(t, Buffer.concat([a, junk, b.subarray(0, 40)]))

  const first = await drain(spool)
  appendFileSync(file, b.subarray(40))
  const second = await drain(spool)
  appendFileSync(file, Buffer.concat([c, d]))
  const third = await drain(spool)

  // The header of the second entry is whole, so where the damage ends is known at once.
  assert.deepEqual(first, { agents: ['a'], brokenBytes: 64 })
  assert.deepEqual(second, { agents: ['b'], brokenBytes: 0 })
  assert.deepEqual(third, { agents: ['c', 'd'], brokenBytes: 0 })
})

test('an entry that is half written is no damage, at whatever byte it ends', async (t) => {
  const [a, b] = entries
  assert.ok(a !== undefined && b !== undefined)
  const { spool, file } = await anOpenSegment(t, a)
  assert.deepEqual((await drain(spool)).agents, ['a'])
  for (let length = 1; length < b.length; length += 1) {
    truncateSync(file, a.length)
    appendFileSync(file, b.subarray(0, length))
    assert.deepEqual(spool.read(10).frames, [], `${length} bytes`)
  }

  truncateSync(file, a.length)
  appendFileSync(file, b)

  assert.deepEqual(await drain(spool), { agents: ['b'], brokenBytes: 0 })
})

test('damage at the end of a segment is handed over once nobody writes to it any more', async (t) => {
  const junk = Buffer.alloc(64, 7)
  const { spool, at } = await anOpenSegment(t, Buffer.concat([whole, junk]))

  const early = await drain(spool)
  at.ms = longAfterMs
  const late = await drain(spool)

  assert.deepEqual(early, { agents: names, brokenBytes: 0 })
  assert.deepEqual(late, { agents: [], brokenBytes: 64 })
})
