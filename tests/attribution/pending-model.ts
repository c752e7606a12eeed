// The statements of attribution over purchases in memory, so that tests see which purchases are tried
// together and in what order, at no cost. What the statements compute is tested against ClickHouse.

import assert from 'node:assert/strict'
import { setImmediate } from 'node:timers/promises'
import { Attributor } from '../../src/attribution/attribute.ts'
import { tooManyLinesCode } from '../../src/attribution/attribute-sql.ts'
import { batchSpanSql, touchFormerSql } from '../../src/attribution/batch-sql.ts'
import { anyPendingSql, pendingSql } from '../../src/attribution/pending-sql.ts'
import { otherPurchaseSql } from '../../src/attribution/attribution-batch.ts'
import type { Division } from '../../src/domain/division.ts'
import { instantMs } from '../../src/warehouse/instant.ts'
import { warehouseFailure } from '../../src/warehouse/refusal.ts'
import type { Params, Warehouse } from '../../src/warehouse/warehouse.ts'

interface Purchase {
  readonly key: string
  readonly shippedAt: string
  state: 'pending' | 'attributed' | 'set aside'
  /** When it was attributed first. */
  attributedAtMs?: number
}

export interface Trouble {
  /** ClickHouse's; undefined: the connection breaks. */
  code: number | undefined
  /** Numbers of purchases; null: every statement fails, also that of no purchase. */
  of: readonly number[] | null
}

export class PendingModel {
  readonly trouble: Trouble
  readonly attributor: Attributor
  /** How many purchases each try held. */
  readonly tries: number[] = []
  statementCount = 0
  /** The most main statements that ran at the same time. */
  mostAtOnce = 0
  /** How many looks at what is pending there were. */
  lookCount = 0
  #runningCount = 0
  readonly #purchases: Purchase[] = []
  #nowMs = Date.UTC(2026, 2, 10)

  constructor(
    trouble: Trouble,
    limits: { readonly linesMax?: number; readonly purchasesMax?: number } = {}
  ) {
    this.trouble = trouble
    this.attributor = new Attributor({ warehouse: this.#warehouse(), settleMs: 0, ...limits })
  }

  /** Another engine on the same purchases. */
  addEngine(division: () => Division, isQuiet: () => boolean = () => false): Attributor {
    const monotonicMs = () => this.#nowMs
    const warehouse = this.#warehouse()
    return new Attributor({ warehouse, settleMs: 0, division, isQuiet, monotonicMs })
  }

  /** The longest that a purchase waited which is attributed. */
  slowestMs(): number {
    const waits = this.#purchases.map(
      ({ shippedAt, attributedAtMs }) => (attributedAtMs ?? this.#nowMs) - instantMs(shippedAt)
    )
    return Math.max(...waits)
  }

  /** Ships the purchases of these numbers under one instant. */
  ship(first: number, count: number): void {
    const shippedAt = this.#tick()
    for (let number = first; number < first + count; number += 1) {
      this.#purchases.push({ key: keyOf(number), shippedAt, state: 'pending' })
    }
  }

  countOf(state: Purchase['state']): number {
    return this.#purchases.filter((one) => one.state === state).length
  }

  oldestPending(): string | null {
    return this.#purchases.find(({ state }) => state === 'pending')?.shippedAt ?? null
  }

  numbersOf(state: Purchase['state']): readonly number[] {
    return this.#purchases.filter((one) => one.state === state).map(({ key }) => parseInt(key, 16))
  }

  /** Until nothing is left; how many calls failed on the way. */
  async attributeAll(callsMax = 1_000): Promise<number> {
    let failureCount = 0
    for (let call = 0; call < callsMax; call += 1) {
      try {
        if (!(await this.attributor.attributeBatch()).hasMore) return failureCount
      } catch {
        failureCount += 1
      }
    }
    return failureCount
  }

  passTime(ms: number): void {
    this.#nowMs += ms
  }

  #tick(): string {
    this.#nowMs += 1
    return `${new Date(this.#nowMs).toISOString().slice(0, 23).replace('T', ' ')}000`
  }

  #warehouse(): Warehouse {
    return {
      rows: async <Row>(sql: string, params: Params = {}) => {
        this.statementCount += 1
        // The caller names the type of what it asked for.
        return this.#answer(sql, params) as Row[]
      },
      command: async (sql, params = {}) => {
        this.statementCount += 1
        this.#runningCount += sql.includes(mainStatement) ? 1 : 0
        this.mostAtOnce = Math.max(this.mostAtOnce, this.#runningCount)
        await setImmediate()
        this.#runningCount -= sql.includes(mainStatement) ? 1 : 0
        this.#run(sql, params)
      },
      stream: () => assert.fail('attribution reads no stream'),
      insert: () => assert.fail('attribution inserts by statement'),
      barrier: async () => undefined,
      close: async () => undefined,
    }
  }

  #answer(sql: string, params: Params): unknown[] {
    const found = this.#inRange(params)
    if (sql === 'SELECT toString(now64(6)) AS now') return [{ now: this.#tick() }]
    if (sql === anyPendingSql) return this.#lookedAt(params).length > 0 ? [{ one: 1 }] : []
    if (sql === pendingSql) {
      this.lookCount += 1
      return groupsOf(this.#lookedAt(params))
    }
    if (sql === batchSpanSql) {
      return [{ readAt: this.#tick(), receivedMin: this.#tick(), dayMax: '2026-03-10' }]
    }
    if (sql === otherPurchaseSql) {
      return found.filter(({ key }) => key !== params['otherKey']).slice(0, 1)
    }
    if (sql.includes('GROUP BY shipped_at ORDER BY')) {
      return groupsOf(found).map((one) => ({ value: one.shippedAt, count: one.pendingCount }))
    }
    assert.match(sql, /GROUP BY purchase_key ORDER BY/u)
    return found.map(({ key }) => ({ value: key, count: 1 }))
  }

  #run(sql: string, params: Params): void {
    if (sql === touchFormerSql) return
    const found = this.#inRange(params)
    if (sql.includes(mainStatement)) {
      const { code, of } = this.trouble
      if (found.length > Number(params['linesMax'])) {
        throw warehouseFailure('statement', tooManyLinesCode, new Error('too many lines'))
      }
      this.tries.push(found.length)
      if (of === null || of.some((number) => found.some(({ key }) => key === keyOf(number)))) {
        throw warehouseFailure('statement', code, new Error('told to fail'))
      }
      for (const one of found) {
        one.state = 'attributed'
        one.attributedAtMs ??= this.#nowMs
      }
    } else if (sql.includes('INSERT INTO set_aside')) {
      for (const one of found) one.state = 'set aside'
    } else {
      assert.match(sql, /INSERT INTO attribution/u)
    }
  }

  #inRange({ from, to, keyFrom, keyTo }: Params): Purchase[] {
    return this.#purchases.filter(
      ({ key, shippedAt }) =>
        String(from) <= shippedAt &&
        shippedAt <= String(to) &&
        String(keyFrom) <= key &&
        key <= String(keyTo)
    )
  }

  #lookedAt({ after, until }: Params): Purchase[] {
    return this.#purchases.filter(
      ({ shippedAt }) => shippedAt > String(after) && shippedAt <= String(until)
    )
  }
}

const mainStatement = 'max_rows_in_join'

function groupsOf(purchases: readonly Purchase[]) {
  const instants = [...new Set(purchases.map(({ shippedAt }) => shippedAt))]
  return instants.map((shippedAt) => {
    const group = purchases.filter((one) => one.shippedAt === shippedAt)
    const dueCount = group.filter(({ state }) => state === 'pending').length
    return { shippedAt, pendingCount: group.length, dueCount }
  })
}

function keyOf(number: number): string {
  return number.toString(16).padStart(32, '0')
}
