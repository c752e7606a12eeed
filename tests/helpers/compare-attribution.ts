// The SQL against the reference: both get the same generated histories, the SQL in several batches
// in random order with attribution in between, and must say the same of every line.

import { setTimeout as sleep } from 'node:timers/promises'
import { Attributor } from '../../src/attribution/attribute.ts'
import { parseDecimal } from '../../src/domain/money.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'
import { createHistoryLoader, partsOf } from './history-warehouse.ts'
import type { HistoryPart } from './history-warehouse.ts'
import { generateHistory, seededRandom } from './history.ts'

import type { History } from './history.ts'
import { attributeHistory } from './reference-attribution.ts'
import type { Credit, PurchaseResult } from './reference-attribution.ts'
import { withSameIds } from './same-ids.ts'

export interface CompareOptions {
  readonly warehouse: Warehouse
  readonly seed: number
  readonly historyCount: number
  readonly crowdMax: number
  readonly firstPublisherId?: number
  /** Through which the steps work; what they have written is read from `warehouse`. Default: the same. */
  readonly steps?: Warehouse
  /** In how many batches everything arrives. Default 4. */
  readonly arrivalBatches?: number
}

export interface Comparison {
  readonly histories: readonly History[]
  readonly purchaseCount: number
  readonly lineCount: number
  readonly differences: readonly string[]
}

const startMs = Date.UTC(2026, 1, 20)

export async function compareAttribution(options: CompareOptions): Promise<Comparison> {
  const { warehouse, crowdMax } = options
  const histories = generateHistories(options)
  await loadInRandomOrder(histories, options)
  const expected = new Map<string, string>()
  let lineCount = 0
  for (const history of histories) {
    for (const purchase of attributeHistory(history, { crowdMax })) {
      expected.set(purchase.deliveryId, describeExpected(purchase))
      lineCount += purchase.lines.length
    }
  }
  const actual = await readAttributions(warehouse, histories)
  const differences = [...new Set([...expected.keys(), ...actual.keys()])]
    .filter((id) => expected.get(id) !== actual.get(id))
    .map((id) => `delivery ${id}\n  expected ${expected.get(id)}\n  actual   ${actual.get(id)}`)
  return { histories, purchaseCount: expected.size, lineCount, differences }
}

function generateHistories(options: CompareOptions): readonly History[] {
  const { seed, historyCount, firstPublisherId = 100 } = options
  const [random, ofOthers] = [seededRandom(seed), seededRandom(seed + 2)]
  return Array.from({ length: historyCount }, (_, index) =>
    withSameIds(
      generateHistory(random, { publisherId: firstPublisherId + index * 100, startMs }),
      ofOthers
    )
  )
}

async function loadInRandomOrder(
  histories: readonly History[],
  {
    warehouse: committed,
    steps: warehouse = committed,
    seed,
    crowdMax,
    arrivalBatches = 4,
  }: CompareOptions
): Promise<void> {
  const random = seededRandom(seed + 1)
  const loader = createHistoryLoader(warehouse, 0)
  // Both ways of reading touchpoints take part, whatever the size of a batch. Of one attributor every instant of
  // shipping is a batch, so that there are several at the same time, also with the same purchases in them.
  const options = { warehouse, settleMs: 0, crowdMax }
  const small = new Attributor({ ...options, largeBatch: Number.POSITIVE_INFINITY })
  const large = new Attributor({ ...options, largeBatch: 1, purchasesMax: 1 })
  const batches = Array.from({ length: arrivalBatches }, (): HistoryPart[] => [])
  for (const history of histories) {
    for (const part of partsOf(history)) batches[Math.floor(random() * arrivalBatches)]!.push(part)
  }
  for (const [index, batch] of batches.entries()) {
    await loader.ship(batch)
    if (index === 0) await loader.ship(batch)
    if (index < arrivalBatches - 1) await attributeAll(index % 2 === 0 ? small : large)
  }
  const judgeable = histories.flatMap(({ deliveries, returns }) => [...deliveries, ...returns])
  await loader.judge(judgeable)
  if (seed % 3 === 0) await attributeAll(large)
  await loader.void(judgeable.filter(({ voided }) => voided === true))
  await attributeAll(seed % 2 === 0 ? small : large)
}

async function attributeAll(attributor: Attributor): Promise<void> {
  // The step asks for purchases shipped before it began reading; that instant must have passed.
  await sleep(2)
  while ((await attributor.attributeBatch()).hasMore);
}

function describeExpected(purchase: PurchaseResult): string {
  const lines = purchase.lines
    .filter(({ credits }) => Object.values(credits).some((credit) => credit !== null))
    .map(({ lineIndex, quantity, valueNanos, credits }) => {
      const click = describeCredit(credits.CLK_14_DAYS)
      const view = describeCredit(credits.IMP_1_DAY)
      const both = describeCredit(credits.IMP_1_DAY_CLK_14_DAYS)
      return `${lineIndex}: ${quantity} for ${valueNanos}, click ${click}, view ${view}, both ${both}`
    })
  return `at ${purchase.receivedAtMs} ${lines.join('; ')}`
}

function describeCredit(credit: Credit | null): string {
  if (credit === null) return 'none'
  return `${credit.servedAdId} ${credit.rule} ${credit.touchedAtMs}`
}

interface AttributionRow {
  readonly deliveryId: string
  readonly receivedAtMs: number
  readonly lineIndex: readonly number[]
  readonly quantity: readonly number[]
  readonly value: readonly string[]
  readonly clickRule: readonly string[]
  readonly clickAtMs: readonly number[]
  readonly clickAd: readonly string[]
  readonly viewAtMs: readonly number[]
  readonly viewAd: readonly string[]
}

async function readAttributions(
  warehouse: Warehouse,
  histories: readonly History[]
): Promise<Map<string, string>> {
  const rows = await warehouse.rows<AttributionRow>(
    `SELECT lower(hex(delivery_id)) AS deliveryId, toUnixTimestamp64Milli(received_at) AS receivedAtMs,
       line_index AS lineIndex, line_quantity AS quantity,
       arrayMap(v -> toString(v), line_value) AS value, click_rule AS clickRule,
       arrayMap(t -> toUnixTimestamp64Milli(t), click_at) AS clickAtMs,
       arrayMap(x -> lower(hex(x)), click_served_ad_id) AS clickAd,
       arrayMap(t -> toUnixTimestamp64Milli(t), view_at) AS viewAtMs,
       arrayMap(x -> lower(hex(x)), view_served_ad_id) AS viewAd
     FROM attribution FINAL
     WHERE day = toDate(received_at) AND delivery_id != toFixedString('', 16)
       AND publisher_id IN {publishers:Array(Int32)}
     LIMIT 10000000`,
    { publishers: histories.map((history) => history.publisherId) }
  )
  return new Map(rows.map((row) => [row.deliveryId, describeActual(row)]))
}

const noAd = '0'.repeat(32)

function describeActual(row: AttributionRow): string {
  const lines = row.lineIndex.map((lineIndex, index) => {
    const rule = row.clickRule[index]
    const click = rule === 'none' ? 'none' : `${row.clickAd[index]} ${rule} ${row.clickAtMs[index]}`
    const view =
      row.viewAd[index] === noAd ? 'none' : `${row.viewAd[index]} view ${row.viewAtMs[index]}`
    const nanos = parseDecimal(row.value[index] ?? '', 9)
    return `${lineIndex}: ${row.quantity[index]} for ${nanos}, click ${click}, view ${view}, both ${click === 'none' ? view : click}`
  })
  return `at ${row.receivedAtMs} ${lines.join('; ')}`
}
