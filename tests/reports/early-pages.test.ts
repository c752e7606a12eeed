// Pages that are answered while their result is still being written, and statements that several askers share.
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { KeptPages } from '../../src/reports/kept-pages.ts'
import type { KeptPagesOptions } from '../../src/reports/kept-pages.ts'
import { answerPage } from '../../src/reports/paged.ts'
import { roomLimits } from '../../src/reports/writing-room.ts'

interface Row {
  readonly number: number
}

/** Gives its rows, ten a block and ten a page, only when it is told to. */
class Statement {
  readonly signal: AbortSignal
  isEnded = false
  #allowed = 0
  #wake = () => {}

  constructor(signal: AbortSignal) {
    this.signal = signal
    signal.addEventListener('abort', () => this.#wake())
  }

  give(blockCount: number): void {
    this.#allowed += blockCount
    this.#wake()
  }

  async *blocks(blockCount: number, advertiserOf: (row: number) => number): AsyncGenerator<Buffer> {
    try {
      for (let block = 0; block < blockCount; block += 1) {
        while (block >= this.#allowed && !this.signal.aborted) {
          await new Promise<void>((resolve) => (this.#wake = resolve))
        }
        this.signal.throwIfAborted()
        const rows = Array.from({ length: 10 }, (_, index) => block * 10 + index)
        yield Buffer.from(rows.map((row) => `[${row},${advertiserOf(row)}]\n`).join(''))
      }
    } finally {
      this.isEnded = true
    }
  }
}

interface Asked {
  readonly page?: number
  readonly owner?: string
  readonly question?: string
  readonly signal?: AbortSignal
  readonly totalRows?: number
  readonly advertiserOf?: (row: number) => number
}

function aWorld(t: TestContext, options: Partial<KeptPagesOptions> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'shelftrace-early-'))
  const keptPages = new KeptPages({ folder, clock: () => 0, ...options })
  const statements: Statement[] = []
  t.after(async () => {
    await keptPages.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const ask = async (asked: Asked = {}) => {
    const { page = 0, owner = 'key', question = 'q', totalRows = 50 } = asked
    const { signal = new AbortController().signal, advertiserOf = () => 1 } = asked
    const result = await answerPage<Row>(
      keptPages,
      { question: `${owner} ${question}`, owner, page, limit: 10, signal },
      (computing) => {
        const statement = new Statement(computing)
        statements.push(statement)
        return Promise.resolve({
          advertiserId: 1,
          blocks: statement.blocks(5, advertiserOf),
          readTotals: () => ({ totalRows, completeThrough: null, unconvertedCount: 0 }),
          format: ([number]) => ({ number: Number(number) }),
        })
      }
    )
    return { first: result.rows[0]?.number, id: result.resultId }
  }
  return { ask, statements, keptPages, folder }
}

/** Lets everything go on that waits for nothing but its turn and the disk. */
async function settle(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 30))
}

async function isPending(promise: Promise<unknown>): Promise<boolean> {
  await settle()
  const pending = Symbol('pending')
  return (await Promise.race([promise, Promise.resolve(pending)])) === pending
}

test('page 0 is answered when its rows are out, and each other page when its own are', async (t) => {
  const { ask, statements, keptPages } = aWorld(t)
  const asking = ask()
  assert.ok(await isPending(asking))

  statements[0]?.give(1)
  const first = await asking
  const third = ask({ page: 2 })
  statements[0]?.give(1)
  assert.ok(await isPending(third))
  statements[0]?.give(1)

  assert.deepEqual(
    [first, await third],
    [
      { first: 0, id: first.id },
      { first: 20, id: first.id },
    ]
  )
  statements[0]?.give(2)
  await keptPages.whenWritten()
  assert.equal((await ask({ page: 4 })).first, 40)
  assert.equal((await ask({ page: 5 })).first, undefined)
  assert.equal(statements.length, 1)
})

test('a reader who leaves after page 0 does not end the writing', async (t) => {
  const { ask, statements } = aWorld(t)
  const reader = new AbortController()
  const asking = ask({ signal: reader.signal })
  await settle()
  statements[0]?.give(1)
  const { id } = await asking
  reader.abort()
  const last = ask({ page: 4 })
  statements[0]?.give(4)

  assert.deepEqual(await last, { first: 40, id })
})

test('equal questions of a key are one statement, which ends when the last asker has left', async (t) => {
  const { ask, statements, folder } = aWorld(t)
  const readers = [new AbortController(), new AbortController()]
  const asking = readers.map(({ signal }) => ask({ signal }))
  const other = ask({ owner: 'other' })
  await settle()
  assert.equal(statements.length, 2)

  readers[0]?.abort()
  await assert.rejects(asking[0] ?? Promise.resolve())
  assert.equal(statements[0]?.signal.aborted, false)
  readers[1]?.abort()
  await assert.rejects(asking[1] ?? Promise.resolve())

  assert.deepEqual([statements[0]?.isEnded, statements[1]?.isEnded], [true, false])
  statements[1]?.give(5)
  assert.equal((await other).first, 0)
  const anew = ask()
  await settle()
  statements[2]?.give(5)
  assert.equal((await anew).first, 0)
  assert.ok(readdirSync(folder).length <= 2)
})

test('all who asked a question at once get their page of one result', async (t) => {
  const { ask, statements } = aWorld(t)
  const asking = [0, 0, 3].map((page) => ask({ page }))
  await settle()
  statements[0]?.give(5)

  const answers = await Promise.all(asking)

  assert.deepEqual(
    answers.map(({ first }) => first),
    [0, 0, 30]
  )
  assert.equal(new Set(answers.map(({ id }) => id)).size, 1)
  assert.equal(statements.length, 1)
})

test('a new page 0 ends the writing of the result that it replaces, unless a page of it is awaited', async (t) => {
  const { ask, statements } = aWorld(t)
  const begin = async (index: number) => {
    const asking = ask()
    await settle()
    statements[index]?.give(1)
    return await asking
  }
  await begin(0)
  const second = ask()
  await settle()
  statements[1]?.give(1)
  await settle()
  assert.equal(statements[0]?.isEnded, true)
  const { id } = await second

  const awaited = ask({ page: 4 })
  await settle()
  const third = ask()
  await settle()
  statements[2]?.give(1)
  await settle()
  assert.equal(statements[1]?.isEnded, false)
  statements[1]?.give(4)

  assert.deepEqual(await awaited, { first: 40, id })
  assert.notEqual((await third).id, id)
})

test('a result that fails while it is written gives no page, and is answered only whole the next time', async (t) => {
  const failures: Error[] = []
  const { ask, statements, folder } = aWorld(t, { onFailure: (error) => failures.push(error) })
  const failing = async (index: number, page: number) => {
    const asking = ask({ page, totalRows: 60 })
    await settle()
    statements[index]?.give(1)
    return asking
  }
  assert.equal((await failing(0, 0)).first, 0)
  const waiting = assert.rejects(ask({ page: 5 }))
  statements[0]?.give(4)
  await waiting
  assert.deepEqual([failures.length, readdirSync(folder)], [1, []])

  const again = failing(1, 0)
  assert.ok(await isPending(again))
  statements[1]?.give(4)

  await assert.rejects(again)
  const healed = ask()
  await settle()
  statements[2]?.give(5)
  assert.equal((await healed).first, 0)
})

test('results that find no room to be written on are written whole before their page is answered', async (t) => {
  const { ask, statements } = aWorld(t)
  const owners = ['key', 'key', ...Array.from({ length: roomLimits.writingsMax }, (_, i) => `${i}`)]
  const asking = owners.map((owner, index) => ask({ owner, question: `${index}` }))
  await settle()
  for (const statement of statements) statement.give(1)

  const pending = []
  for (const one of asking) pending.push(await isPending(one))
  assert.equal(pending.filter((is) => !is).length, roomLimits.writingsMax)
  assert.ok(pending[0] || pending[1])
  for (const statement of statements) statement.give(4)

  for (const { first } of await Promise.all(asking)) assert.equal(first, 0)
})

test('closing ends what is being written, and a writing that nobody waits for ends in time', async (t) => {
  const { ask, statements, keptPages } = aWorld(t, { limits: { writingMsMax: 40 } })
  const asking = ask()
  await settle()
  statements[0]?.give(1)
  await asking
  while (statements[0]?.isEnded === false) await settle()
  await keptPages.whenWritten()

  const waiting = ask({ page: 3 })
  await settle()
  statements[1]?.give(1)
  await settle()
  await settle()
  assert.equal(statements[1]?.isEnded, false)
  const refused = assert.rejects(waiting, { code: 'WAREHOUSE_UNAVAILABLE' })
  await keptPages.close()
  await refused
  assert.equal(statements[1]?.isEnded, true)
})

test('each row that is read is checked for its advertiser, on every page', async (t) => {
  const { ask, statements } = aWorld(t)
  const asking = ask({ advertiserOf: (row) => (row === 33 ? 2 : 1) })
  await settle()
  statements[0]?.give(5)

  assert.equal((await asking).first, 0)
  await assert.rejects(ask({ page: 3 }), /answers for the advertiser/)
})
