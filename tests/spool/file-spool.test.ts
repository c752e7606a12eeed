import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { openFileSpool } from '../../src/spool/file-spool.ts'
import { encodeFrame } from '../../src/spool/frame.ts'
import type { FileSpool } from '../../src/spool/file-spool.ts'
import { encodeEntryHeader, segmentName } from '../../src/spool/segment.ts'
import { anEvent } from '../contracts/spool-model.ts'
import { codeOf, spoolContract } from '../contracts/spool.contract.ts'
import { brokenOf, entriesOf } from '../helpers/spooled.ts'
import { emptyBatch } from '../contracts/spool-model.ts'

const noStrace = spawnSync('strace', ['-V']).status === 0 ? false : 'strace is not installed'
const writerPath = fileURLToPath(new URL('./spool-writer.child.ts', import.meta.url))

spoolContract({
  name: 'files',
  start: async () => {
    await Promise.resolve()
    const path = mkdtempSync(join(tmpdir(), 'shelftrace-spool-'))
    let planted = 0
    return {
      open: (options = {}) => openFileSpool({ path, bytesMax: 1e9, clock: Date.now, ...options }),
      plant: async (key, frame) => {
        await Promise.resolve()
        planted += 1
        const entry = [encodeEntryHeader(Buffer.from(key, 'hex'), frame.length), frame]
        writeFileSync(join(path, segmentName(1, '0'.repeat(12), planted)), Buffer.concat(entry))
      },
      dispose: async () => {
        await Promise.resolve()
        rmSync(path, { recursive: true })
      },
    }
  },
})

// A kill cannot show what a power cut loses from the cache of the operating system; this can.
test('a record is synced to disk before its append resolves', { skip: noStrace }, (t) => {
  const path = aFolder(t)
  const traced = ['openat', 'pwrite64', 'fdatasync', 'fsync', 'write'].join()
  const child = [process.execPath, '--import', 'tsx', writerPath, 'once', path, 'w']

  const { stderr } = spawnSync('strace', ['-f', '-e', `trace=${traced}`, ...child], {
    encoding: 'utf8',
    maxBuffer: 1e8,
  })

  const steps = stderr
    .slice(stderr.indexOf('write(1, "appending'), stderr.indexOf('write(1, "appended'))
    .matchAll(/\.seg", (O_[A-Z|_]*CREAT[A-Z|_]*)|(pwrite64|fdatasync|fsync)(?:\(| resumed)/g)
  const order = Array.from(steps, ([, flags, call]) => call ?? flags)
  const [flags = '', ...calls] = order.filter((step, index) => step !== order[index - 1])
  // A write to a file that was opened like this ends when its data is on disk.
  assert.match(flags, /O_DSYNC/)
  assert.deepEqual(calls, ['fsync', 'pwrite64'], order.join())
})

test('every record acknowledged before a kill -9 is there after reopening, once', async (t) => {
  const path = aFolder(t)
  const writer = startWriter(['forever', path, 'w'])
  const output = text(writer.stdout ?? failed())
  const seen = once(writer.stdout ?? failed(), 'data')
  await seen
  await delay(250)

  writer.kill('SIGKILL')
  const acknowledged = (await output).split('\n').slice(0, -1)

  const spool = openSpool(t, path)
  const kept = agentsOf(spool)
  assert.ok(acknowledged.length > 100, `${acknowledged.length} acknowledged`)
  assert.equal(new Set(kept).size, kept.length)
  const keptSet = new Set(kept)
  assert.deepEqual(
    acknowledged.filter((id) => !keptSet.has(id)),
    []
  )
  await spool.append(anEvent({ userAgent: 'after' }))
  assert.equal(agentsOf(spool).length, kept.length + 1)
})

test('a process killed while it writes does not stop another that writes', async (t) => {
  const path = aFolder(t)
  const spool = openSpool(t, path)
  for (let round = 0; round < 3; round++) {
    const writer = startWriter(['forever', path, `w${round}`])
    await once(writer.stdout ?? failed(), 'data')
    writer.kill('SIGKILL')
    await once(writer, 'exit')

    await spool.append(anEvent({ userAgent: `mine-${round}` }))
  }

  const kept = agentsOf(spool)
  assert.deepEqual(
    kept.filter((id) => id.startsWith('mine')),
    ['mine-0', 'mine-1', 'mine-2']
  )
})

test('two processes and a reader share a spool: every record comes out once', async (t) => {
  const path = aFolder(t)
  const spool = openSpool(t, path)
  const writers = ['a', 'b'].map((name) => startWriter(['some', path, name]))
  const ended = Promise.all(writers.map((writer) => once(writer, 'exit')))
  const seen: string[] = []
  let isEnded = false
  void ended.then(() => (isEnded = true))

  for (;;) {
    const wasEnded = isEnded
    const batch = spool.read(500)
    for (const { record } of entriesOf(batch)) {
      if (record.type === 'ad-event') seen.push(record.userAgent)
    }
    await spool.remove(batch)
    if (wasEnded && batch.frames.length === 0) break
    await delay(2)
  }

  assert.deepEqual(await ended, [
    [0, null],
    [0, null],
  ])
  assert.equal(seen.length, 4_000)
  assert.equal(new Set(seen).size, 4_000)
})

test('a read sees what another process appended within the same turn of the loop', async (t) => {
  const path = aFolder(t)
  const spool = openSpool(t, path)
  assert.equal(entriesOf(spool.read(1)).length, 0)
  const writer = startWriter(['forever', path, 'w'])
  await once(writer.stdout ?? failed(), 'data')

  let first = entriesOf(spool.read(1_000_000)).length
  const untilMs = Date.now() + 2_000
  while (first === entriesOf(spool.read(1_000_000)).length && Date.now() < untilMs) {
    // Blocks this turn on purpose: the snapshot must not be that of the turn's first read.
    first = Math.min(first, entriesOf(spool.read(1_000_000)).length)
  }

  assert.ok(Date.now() < untilMs)
  writer.kill('SIGKILL')
  await once(writer, 'exit')
})

test('a disk without room refuses appends, keeps what it took and recovers with room', async (t) => {
  const path = aFolder(t)
  const node = `"${process.execPath}" --import tsx "${writerPath}" fill "${path}" f`
  const child = spawn('sh', ['-c', `ulimit -f 200; exec ${node}`], { stdio: 'pipe' })
  child.stderr.resume()

  const lines = (await text(child.stdout)).trim().split('\n')
  const [first, second, third] = lines.map(parseFilling)

  assert.ok(first !== undefined && second !== undefined && third !== undefined)
  assert.deepEqual([first.code, second.code, third.code], Array(3).fill('SPOOL_FULL'))
  // A file that refused is left alone; the next one has room again.
  assert.ok(first.count > 0 && second.count > 0 && third.count > 0)
  assert.equal(first.kept, first.count)
  assert.equal(second.kept, first.count + second.count)
  assert.equal(third.kept, second.kept - 3 + third.count)
  const spool = openSpool(t, path)
  assert.equal(entriesOf(spool.read(1_000_000)).length, third.kept)
})

test('below the floor of free disk appends are refused and reading goes on', async (t) => {
  const path = aFolder(t)
  const writable = openSpool(t, path)
  await writable.append(anEvent({}))
  await writable.close()
  const spool = openFileSpool({ path, bytesMax: 1e9, clock: Date.now, diskFreeBytesMin: 1e18 })
  t.after(() => spool.close())

  const refusal = await spool.append(anEvent({})).then(() => null, codeOf)

  assert.equal(refusal, 'SPOOL_FULL')
  const batch = spool.read(10)
  assert.equal(entriesOf(batch).length, 1)
  await spool.remove(batch)
  assert.equal(spool.depth().bytes, 0)
})

test('while the folder cannot be read, what may have come since the last reading is told as waiting', async (t) => {
  const path = aFolder(t)
  let nowMs = Date.now()
  const spool = openFileSpool({ path, bytesMax: 1e9, clock: () => nowMs })
  t.after(() => spool.close())
  const readAtMs = nowMs
  assert.deepEqual(spool.depth(), { bytes: 0, oldestAtMs: null })
  nowMs += 5_000

  renameSync(path, `${path}-away`)
  const gone = spool.depth()
  renameSync(`${path}-away`, path)

  assert.deepEqual(gone, { bytes: 0, oldestAtMs: readAtMs })
  assert.deepEqual(spool.depth(), { bytes: 0, oldestAtMs: null })
  await spool.append(anEvent({}))
  const known = spool.depth()
  renameSync(path, `${path}-away`)
  assert.deepEqual(spool.depth(), known)
  renameSync(`${path}-away`, path)
})

test('a segment that is removed to its end and quiet is deleted, and one with more in it is not', async (t) => {
  const path = aFolder(t)
  let nowMs = Date.now()
  const spool = openFileSpool({ path, bytesMax: 1e9, clock: () => nowMs })
  t.after(() => spool.close())
  await spool.append(anEvent({ userAgent: 'first' }))
  await spool.remove(spool.read(10))
  const early = readdirSync(path).length

  nowMs += 60_000
  await spool.append(anEvent({ userAgent: 'second' }))
  await spool.remove(emptyBatch)
  const kept = agentsOf(spool)
  await spool.remove(spool.read(10))

  assert.equal(early, 2, 'the segment and how much of it was removed')
  assert.deepEqual(kept, ['second'])
  assert.deepEqual(readdirSync(path), [])
  await spool.append(anEvent({ userAgent: 'third' }))
  assert.deepEqual(agentsOf(spool), ['third'], 'the writer notices and begins another')
})

// As on a disk that others have filled to the last byte: only deleting makes room for anything.
test('segments that are removed are deleted also when how far that was cannot be noted', async (t) => {
  const path = aFolder(t)
  let nowMs = 1_000_000
  const names = () => readdirSync(path).filter((name) => name.endsWith('.seg'))
  for (let index = 0; index < 2; index += 1) {
    const writer = openFileSpool({ path, bytesMax: 1e9, clock: () => nowMs })
    await writer.append(anEvent({ receivedAtMs: index }))
    await writer.close()
    nowMs += 1_000
  }
  const reader = openFileSpool({ path, bytesMax: 1e9, clock: () => nowMs })
  t.after(() => reader.close())
  const [first = '', second = ''] = names().toSorted()
  mkdirSync(join(path, `${second}.done`))
  nowMs += 60_000

  await assert.rejects(reader.remove(reader.read(10)))

  assert.ok(!names().includes(first))
  assert.deepEqual(entriesOf(reader.read(10)), [], 'nothing is shipped once more')
})

test('an entry that was cut off was never acknowledged: it is passed over, and its segment deleted', async (t) => {
  const path = aFolder(t)
  const whole = encodeFrame(['{"type":"later"}'], 18)
  const header = encodeEntryHeader(Buffer.alloc(16, 1), whole.length)
  for (const [serial, cut] of [
    [1, 5],
    [2, header.length],
    [3, header.length + 4],
  ] as const) {
    const bytes = Buffer.concat([header, whole, header, whole])
    const name = segmentName(1, '0'.repeat(12), serial)
    writeFileSync(join(path, name), bytes.subarray(0, header.length + whole.length + cut))
  }
  const spool = openSpool(t, path)

  const batch = spool.read(10)
  await spool.remove(batch)

  assert.equal(brokenOf(batch).length, 3)
  assert.deepEqual(readdirSync(path), [])
})

test('how much was removed is remembered over a restart, and lost it only means reading again', async (t) => {
  const path = aFolder(t)
  const spool = openSpool(t, path)
  for (const agent of ['1', '2', '3']) await spool.append(anEvent({ userAgent: agent }))
  await spool.remove(spool.read(2))
  const done = readdirSync(path).find((name) => name.endsWith('.done')) ?? ''

  const restarted = openSpool(t, path)
  const remembered = agentsOf(restarted)
  assert.match(readFileSync(join(path, done), 'utf8'), /^\d+$/)
  writeFileSync(join(path, done), '')
  const forgotten = agentsOf(openSpool(t, path))

  assert.deepEqual(remembered, ['3'])
  assert.deepEqual(forgotten, ['1', '2', '3'])
})

test('files of others in the folder are left alone', async (t) => {
  const path = aFolder(t)
  appendFileSync(join(path, 'notes.txt'), 'not a segment')
  const spool = openSpool(t, path)
  await spool.append(anEvent({ userAgent: 'mine' }))

  await spool.remove(spool.read(10))

  assert.equal(readFileSync(join(path, 'notes.txt'), 'utf8'), 'not a segment')
})

interface Filling {
  readonly count: number
  readonly code: string
  readonly kept: number
}

function parseFilling(line: string): Filling {
  const value: Filling = JSON.parse(line)
  return value
}

function aFolder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'shelftrace-spool-'))
  t.after(() => rmSync(path, { recursive: true }))
  return path
}

function openSpool(t: TestContext, path: string): FileSpool {
  const spool = openFileSpool({ path, bytesMax: 1e9, clock: Date.now })
  t.after(() => spool.close())
  return spool
}

function startWriter(args: readonly string[]): ChildProcess {
  return spawn(process.execPath, ['--import', 'tsx', writerPath, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

function agentsOf(spool: FileSpool): readonly string[] {
  return entriesOf(spool.read(10_000_000)).map(({ record }) =>
    record.type === 'ad-event' ? record.userAgent : ''
  )
}

function failed(): never {
  throw new Error('the child has no stdout')
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
