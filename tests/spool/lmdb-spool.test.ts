import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { open } from 'lmdb'
import { openLmdbSpool } from '../../src/spool/lmdb-spool.ts'
import type { LmdbSpool } from '../../src/spool/lmdb-spool.ts'
import { anEvent } from '../contracts/spool-model.ts'
import { codeOf, spoolContract } from '../contracts/spool.contract.ts'

const noStrace = spawnSync('strace', ['-V']).status === 0 ? false : 'strace is not installed'
const writerPath = fileURLToPath(new URL('./spool-writer.child.ts', import.meta.url))

spoolContract({
  name: 'lmdb',
  start: async () => {
    await Promise.resolve()
    const path = mkdtempSync(join(tmpdir(), 'shelftrace-spool-'))
    return {
      open: (options = {}) => openLmdbSpool({ path, bytesMax: 1e9, clock: Date.now, ...options }),
      plant: async (key, frame) => {
        const db = open<Buffer, Buffer>({
          path,
          encoding: 'binary',
          keyEncoding: 'binary',
          overlappingSync: false,
        })
        await db.put(Buffer.from(key, 'hex'), frame)
        await db.close()
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
  const calls = ['openat', 'pwrite64', 'fdatasync', 'write'].join()
  const child = [process.execPath, '--import', 'tsx', writerPath, 'once', path, 'w']

  const { stderr } = spawnSync('strace', ['-f', '-e', `trace=${calls}`, ...child], {
    encoding: 'utf8',
    maxBuffer: 1e8,
  })

  const opened = /openat\([^\n]*data\.mdb", O_WRONLY\|O_DSYNC[^\n]* = (\d+)/.exec(stderr)
  const steps = stderr
    .slice(stderr.indexOf('write(1, "appending'), stderr.indexOf('write(1, "appended'))
    .matchAll(/(pwrite64|fdatasync)(?:\((\d+)| resumed)/g)
  const order = Array.from(steps, ([, call, file]) => (file === opened?.[1] ? 'meta' : call))
  assert.ok(opened !== null)
  const syncAt = order.indexOf('fdatasync')
  assert.ok(syncAt > 0, order.join())
  assert.deepEqual(new Set(order.slice(0, syncAt)), new Set(['pwrite64']), 'pages come first')
  assert.ok(order.indexOf('meta') > syncAt, 'the root that names them last, through O_DSYNC')
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
    for (const { record } of batch.entries) {
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
  assert.equal(spool.read(1).entries.length, 0)
  const writer = startWriter(['forever', path, 'w'])
  await once(writer.stdout ?? failed(), 'data')

  let first = spool.read(1_000_000).entries.length
  const untilMs = Date.now() + 2_000
  while (first === spool.read(1_000_000).entries.length && Date.now() < untilMs) {
    // Blocks this turn on purpose: the snapshot must not be that of the turn's first read.
    first = Math.min(first, spool.read(1_000_000).entries.length)
  }

  assert.ok(Date.now() < untilMs)
  writer.kill('SIGKILL')
  await once(writer, 'exit')
})

test('a disk without room refuses appends, keeps what it took and recovers with room', async (t) => {
  const path = aFolder(t)
  const node = `"${process.execPath}" --import tsx "${writerPath}" fill "${path}" f`
  const child = spawn('sh', ['-c', `ulimit -f 8192; exec ${node}`], { stdio: 'pipe' })
  child.stderr.resume()

  const lines = (await text(child.stdout)).trim().split('\n')
  const [first, second, third] = lines.map(parseFilling)

  const full = new Set(['SPOOL_FULL', 'SPOOL_UNAVAILABLE'])
  assert.ok(first !== undefined && second !== undefined && third !== undefined)
  for (const filling of [first, second, third]) assert.ok(full.has(filling.code))
  assert.ok(first.count > 10)
  assert.equal(first.kept, first.count)
  assert.equal(second.kept, first.count + second.count)
  assert.ok(third.count > 0, `${third.count} after removing 3`)
  assert.equal(third.kept, second.kept - 3 + third.count)
  const spool = openSpool(t, path)
  assert.equal(spool.read(1_000_000).entries.length, third.kept)
})

test('below the floor of free disk appends are refused and reading goes on', async (t) => {
  const path = aFolder(t)
  const writable = openSpool(t, path)
  await writable.append(anEvent({}))
  await writable.close()
  const spool = openLmdbSpool({ path, bytesMax: 1e9, clock: Date.now, diskFreeBytesMin: 1e18 })
  t.after(() => spool.close())

  const refusal = await spool.append(anEvent({})).then(() => null, codeOf)

  assert.equal(refusal, 'SPOOL_FULL')
  const batch = spool.read(10)
  assert.equal(batch.entries.length, 1)
  await spool.remove(batch)
  assert.equal(spool.depth().frames, 0)
})

test('a write that does not end in time is answered, and the spool recovers when it ends', async (t) => {
  const path = aFolder(t)
  const spool = openLmdbSpool({ path, bytesMax: 1e9, clock: Date.now, writeTimeoutMsMax: 150 })
  t.after(() => spool.close())
  await spool.append(anEvent({}))
  const writer = startWriter(['hold', path, 'h'])
  await once(writer.stdout ?? failed(), 'data')

  const late = await spool.append(anEvent({})).then(() => null, codeOf)
  const next = await spool.append(anEvent({})).then(() => null, codeOf)
  writer.kill('SIGKILL')
  await once(writer, 'exit')
  let code: unknown = 'none'
  for (let attempt = 0; attempt < 100 && code !== null; attempt++) {
    await delay(50)
    code = await spool.append(anEvent({})).then(() => null, codeOf)
  }

  assert.deepEqual([late, next, code], ['SPOOL_UNAVAILABLE', 'SPOOL_UNAVAILABLE', null])
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

function openSpool(t: TestContext, path: string): LmdbSpool {
  const spool = openLmdbSpool({ path, bytesMax: 1e9, clock: Date.now })
  t.after(() => spool.close())
  return spool
}

function startWriter(args: readonly string[]): ChildProcess {
  return spawn(process.execPath, ['--import', 'tsx', writerPath, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

function agentsOf(spool: LmdbSpool): readonly string[] {
  const { entries } = spool.read(10_000_000)
  return entries.map(({ record }) => (record.type === 'ad-event' ? record.userAgent : ''))
}

function failed(): never {
  throw new Error('the child has no stdout')
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
