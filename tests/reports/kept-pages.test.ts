// Bounds of what is kept: by what can be asked for, by key, over all keys, by the disk and by time.
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { keptLimits, KeptPages } from '../../src/reports/kept-pages.ts'
import type { KeptPagesOptions } from '../../src/reports/kept-pages.ts'
import type { Values } from '../../src/reports/kept-result.ts'
import { answerPage } from '../../src/reports/paged.ts'
import type { PagedResult } from '../../src/reports/paged.ts'

interface Row {
  readonly text: string
}

const unaborted = new AbortController().signal

interface World {
  readonly keptPages: KeptPages
  readonly clock: { nowMs: number }
  readonly folder: string
}

/** A row is 104 bytes in its file. */
const pad = 'x'.repeat(90)
const rowBytes = 104

function aWorld(t: TestContext, options: Partial<KeptPagesOptions> = {}): World {
  const folder = mkdtempSync(join(tmpdir(), 'shelftrace-kept-'))
  const clock = { nowMs: 0 }
  const keptPages = new KeptPages({ folder, clock: () => clock.nowMs, ...options })
  t.after(async () => {
    await keptPages.close()
    rmSync(folder, { recursive: true, force: true })
  })
  return { keptPages, clock, folder }
}

/** 8 digits and the padding, then the advertiser. */
const rowOf = (index: number): Values => [`${String(index).padStart(8, '0')}${pad}`, 1]

const linesOf = (rows: readonly Values[]) =>
  Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join(''))

interface Asked {
  readonly owner?: string
  readonly question?: string
  readonly page?: number
  readonly limit?: number
  readonly rowCount?: number
}

/** As an engine with blocks of 50 rows that heeds the limit of the statement. */
async function ask(
  { keptPages }: Pick<World, 'keptPages'>,
  asked: Asked = {},
  onBlock = (_row: number) => {}
) {
  const { owner = 'key', question = 'q', page = 0, limit = 10, rowCount = 100 } = asked
  async function* blocks() {
    for (let from = 0; from < rowCount; from += 50) {
      onBlock(from)
      const length = Math.min(50, rowCount - from)
      const rows = Array.from({ length }, (_, index) => rowOf(from + index))
      yield await Promise.resolve(linesOf(rows))
    }
  }
  return await answerPage<Row>(
    keptPages,
    { owner, question: `${owner} ${question}`, page, limit, signal: unaborted },
    () =>
      Promise.resolve({
        advertiserId: 1,
        blocks: blocks(),
        readTotals: () => ({ totalRows: rowCount, completeThrough: null, unconvertedCount: 0 }),
        format: ([text]) => ({ text: String(text).slice(0, 8) }),
      })
  )
}

const firstOf = ({ rows }: PagedResult<Row>) => Number(rows[0]?.text ?? 'NaN')

const bytesIn = (folder: string) =>
  readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)

test('pages are cut where they begin, and none stands behind the last', async (t) => {
  const world = aWorld(t)

  const pages = []
  for (let page = 0; page < 5; page += 1) pages.push(await ask(world, { page, limit: 30 }))

  assert.deepEqual(pages.map(firstOf), [0, 30, 60, 90, Number.NaN])
  assert.deepEqual(
    pages.map(({ rows, totalRows }) => [rows.length, totalRows]),
    [30, 30, 30, 10, 0].map((length) => [length, 100])
  )
  assert.equal(new Set(pages.map(({ resultId }) => resultId)).size, 1)
})

// Eviction and a new page 0 remove the file; the page that was found is read all the same.
test('a page that was found is read, whatever is removed while it is read', async (t) => {
  const world = aWorld(t)
  await ask(world)
  await world.keptPages.whenWritten()

  const reading = [1, 2, 3].map((page) => ask(world, { page }))
  world.clock.nowMs += keptLimits.ageMsMax + 1
  world.keptPages.sweep()

  assert.deepEqual(readdirSync(world.folder), [])
  assert.deepEqual((await Promise.all(reading)).map(firstOf), [10, 20, 30])
})

test('a result that grows old between page 0 and the next is computed anew, never told to have no rows', async (t) => {
  const world = aWorld(t)
  const first = await ask(world)
  await world.keptPages.whenWritten()
  world.clock.nowMs += keptLimits.ageMsMax + 1

  const second = await ask(world, { page: 1 })

  assert.deepEqual([second.totalRows, firstOf(second)], [100, 10])
  assert.notEqual(second.resultId, first.resultId)
})

test('a result that ends before its last row is refused and not kept', async (t) => {
  const world = aWorld(t)
  const short = answerPage<Row>(
    world.keptPages,
    { owner: 'key', question: 'short', page: 1, limit: 10, signal: unaborted },
    () =>
      Promise.resolve({
        advertiserId: 1,
        blocks: (async function* () {
          yield await Promise.resolve(linesOf([rowOf(0)]))
        })(),
        readTotals: () => ({ totalRows: 100, completeThrough: null, unconvertedCount: 0 }),
        format: () => ({ text: '' }),
      })
  )

  await assert.rejects(short)
  assert.deepEqual(readdirSync(world.folder), [])
})

test('old results leave by themselves', async (t) => {
  const world = aWorld(t, { limits: { sweepPauseMs: 5 } })
  await ask(world)
  await world.keptPages.whenWritten()
  assert.equal(readdirSync(world.folder).length, 1)

  world.clock.nowMs += keptLimits.ageMsMax + 1
  while (readdirSync(world.folder).length > 0) await new Promise((done) => setTimeout(done, 5))
})

test('one key gives up its own results, not those of others', async (t) => {
  const world = aWorld(t, {
    limits: { bytesMax: 100_000, bytesPerOwnerMax: 35 * 1_000, resultsPerOwnerMax: 2 },
  })
  await ask(world, { owner: 'modest' })
  await world.keptPages.whenWritten()

  for (let count = 0; count < 20; count += 1) {
    await ask(world, { owner: 'greedy', question: `${count}` })
    await ask(world, { owner: 'large', question: `${count}`, rowCount: 200 })
    await world.keptPages.whenWritten()
    assert.ok(bytesIn(world.folder) <= 100_000)
  }

  assert.equal(readdirSync(world.folder).length, 1 + 2 + 1)
  const page = await ask(world, { owner: 'modest', page: 1 }, () => assert.fail('computed anew'))
  assert.equal(firstOf(page), 10)
})

test('what is being written counts, and what cannot fit is refused while it is written', async (t) => {
  const world = aWorld(t, { limits: { bytesMax: 150 * rowBytes, bytesPerOwnerMax: 1e9 } })
  await ask(world, { owner: 'other' })
  await world.keptPages.whenWritten()
  let bytesMax = 0
  const watch = () => (bytesMax = Math.max(bytesMax, bytesIn(world.folder)))

  const tooLarge = ask(world, { rowCount: 10_000, page: 900 }, watch)

  await assert.rejects(tooLarge, { code: 'REPORT_STORE_FULL' })
  assert.ok(bytesMax <= 150 * rowBytes, `${bytesMax}`)
  assert.deepEqual(readdirSync(world.folder), [])
  assert.equal((await ask(world)).totalRows, 100)
})

test('the disk keeps room for events: old results go first, then a new one is refused', async (t) => {
  const disk = { bytes: keptLimits.freeBytesMin + 250 * rowBytes }
  const world: World = aWorld(t, {
    readFreeBytes: () => Promise.resolve(disk.bytes - bytesIn(world.folder)),
  })

  for (let count = 0; count < 9; count += 1) {
    await ask(world, { question: `${count}` })
    await world.keptPages.whenWritten()
  }
  assert.equal(readdirSync(world.folder).length, 2)

  await assert.rejects(ask(world, { rowCount: 1_000, page: 99 }), { code: 'REPORT_STORE_FULL' })
  assert.deepEqual(readdirSync(world.folder), [])
  const small = await ask(world, { rowCount: 10 })
  assert.equal(small.rows.length, 10)
})

function failingFormat(): Row {
  throw new Error('no such name')
}

test('a page that cannot be formatted is a failure, and page 0 begins anew', async (t) => {
  const { keptPages } = aWorld(t)
  const asked = { owner: 'key', question: 'q', page: 0, limit: 1, signal: unaborted }
  const answering = answerPage<Row>(keptPages, asked, () =>
    Promise.resolve({
      advertiserId: 1,
      blocks: (async function* () {
        yield await Promise.resolve(linesOf([rowOf(0), rowOf(1)]))
      })(),
      readTotals: () => ({ totalRows: 2, completeThrough: null, unconvertedCount: 0 }),
      format: failingFormat,
    })
  )

  await assert.rejects(answering, /no such name/)

  assert.equal((await ask({ keptPages }, { rowCount: 20 })).totalRows, 20)
})
