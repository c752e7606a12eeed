// Reads the deliveries of one purchase, and finds which of them wins.

import type { DeliveryStanding, Disbelief } from '../../contract/explanation.ts'
import { isValidSql, judgementsSql } from '../../warehouse/effective-verdict.ts'
import type { Warehouse } from '../../warehouse/warehouse.ts'

export const deliveryLimits = {
  /** The earliest of each kind. A shop that repeats a purchase more often has a fault. */
  readMax: 1_000,
  /** Deliveries whose lines are read beside those of the winner. */
  withLinesMax: 20,
} as const

type Reader = Pick<Warehouse, 'rows'>

export interface PurchaseId {
  readonly publisherId: number
  /** 32 hex digits. */
  readonly purchaseKey: string
}

export interface Delivery {
  readonly deliveryId: string
  readonly receivedAtMs: number
  /** As it was stored; a judgement may say otherwise. */
  readonly verdict: StoredVerdict
  readonly siteId: number
  readonly currency: string
  readonly contentHash: string
  readonly lineCount: number
  /** The UTC day under which it is filed: that of its receipt, or of its shipping if it came too late. */
  readonly filedDay: string
  readonly standing: DeliveryStanding
  /** Null unless it is void. */
  readonly voidedAtMs: number | null
  /** Null if the stored verdict counts. */
  readonly judgedAtMs: number | null
}

export type StoredVerdict = 'valid' | Disbelief | 'too-late'

/** The latest judgement of a delivery. */
export interface DeliveryJudgement {
  readonly verdict: StoredVerdict | 'void'
  readonly judgedAtMs: number
}

export interface PurchaseDeliveries {
  /** UTC days of the deliveries that may win. */
  readonly days: readonly string[]
  /** By receipt, then by id. */
  readonly deliveries: readonly Delivery[]
  /** How many more there are. */
  readonly leftOutCount: number
  readonly winner: Delivery | null
}

export interface DeliveryLine {
  readonly gtin: string
  readonly gtinKey: string
  readonly groupId: string
  readonly brand: string
  readonly price: number
  readonly quantity: number
  /** A decimal of 9 digits. */
  readonly value: string
  readonly verdict: 'valid' | 'out-of-range' | 'no-product'
}

export async function readDeliveries(
  warehouse: Reader,
  purchase: PurchaseId
): Promise<PurchaseDeliveries> {
  const [known] = await warehouse.rows<{ days: readonly string[] }>(daysSql, { ...purchase })
  const days = known?.days ?? []
  const params = { ...purchase, days, readMax: deliveryLimits.readMax }
  const [valid, others, judgements] = await Promise.all([
    days.length === 0 ? [] : warehouse.rows<DeliveryRow>(validSql, params),
    warehouse.rows<DeliveryRow>(othersSql, params),
    readJudgements(warehouse, purchase),
  ])
  const rows = [...valid, ...others].toSorted(byReceipt)
  const verdictOf = (row: Pick<DeliveryRow, 'deliveryId' | 'verdict'>) =>
    judgements.get(row.deliveryId)?.verdict ?? row.verdict
  const first = rows.find((row) => verdictOf(row) === 'valid') ?? null
  const deliveries = rows.map(({ totalCount: _total, ...row }) => {
    const judgedAtMs = judgements.get(row.deliveryId)?.judgedAtMs ?? null
    const standing = standingOf({ ...row, verdict: verdictOf(row) }, first ?? row)
    return { ...row, judgedAtMs, voidedAtMs: standing === 'void' ? judgedAtMs : null, standing }
  })
  const totalCount = (valid[0]?.totalCount ?? 0) + (others[0]?.totalCount ?? 0)
  return {
    days,
    deliveries,
    leftOutCount: totalCount - rows.length,
    winner: deliveries.find(({ standing }) => standing === 'counted') ?? null,
  }
}

/** By delivery id: those of the deliveries of the purchase, and of its returns. */
export async function readJudgements(
  warehouse: Reader,
  { purchaseKey }: Pick<PurchaseId, 'purchaseKey'>
): Promise<ReadonlyMap<string, DeliveryJudgement>> {
  const rows = await warehouse.rows<DeliveryJudgement & { readonly deliveryId: string }>(
    judgedSql,
    { purchaseKey }
  )
  return new Map(rows.map(({ deliveryId, ...judgement }) => [deliveryId, judgement]))
}

type DeliveryRow = Omit<Delivery, 'standing' | 'voidedAtMs' | 'judgedAtMs'> & {
  readonly totalCount: number
}

function byReceipt(one: DeliveryRow, other: DeliveryRow): number {
  if (one.receivedAtMs !== other.receivedAtMs) return one.receivedAtMs - other.receivedAtMs
  return one.deliveryId < other.deliveryId ? -1 : 1
}

type Received = Pick<DeliveryRow, 'deliveryId' | 'receivedAtMs'>

/** The standing of a delivery by the verdict that counts; `first` is the delivery that does. */
export function standingOf(
  row: Received & Pick<DeliveryJudgement, 'verdict'>,
  first: Received
): DeliveryStanding {
  if (row.verdict !== 'valid') return row.verdict
  if (row.deliveryId === first.deliveryId) return 'counted'
  return row.receivedAtMs > first.receivedAtMs ? 'later' : 'greater-delivery-id'
}

/** The lines of the deliveries by delivery id, each of at most `linesMax` lines. */
export async function readLines(
  warehouse: Reader,
  purchase: PurchaseId,
  { deliveries, linesMax }: { readonly deliveries: readonly Delivery[]; readonly linesMax: number }
): Promise<ReadonlyMap<string, readonly DeliveryLine[]>> {
  const rows = await warehouse.rows<LinesRow>(linesSql, {
    ...purchase,
    linesMax,
    days: [...new Set(deliveries.map((one) => one.filedDay))],
    deliveryIds: deliveries.map((one) => one.deliveryId),
  })
  return new Map(rows.map(({ deliveryId, lines }) => [deliveryId, lines]))
}

interface LinesRow {
  readonly deliveryId: string
  readonly lines: readonly DeliveryLine[]
}

/** The identities under which a delivery came, '' for none. They never leave the service. */
export async function readIdentities(
  warehouse: Reader,
  purchase: PurchaseId,
  { deliveryId, filedDay }: Delivery
): Promise<{ readonly user: string; readonly login: string }> {
  const [row] = await warehouse.rows<{ user: string; login: string }>(identitiesSql, {
    ...purchase,
    days: [filedDay],
    deliveryIds: [deliveryId],
  })
  return { user: idOf(row?.user ?? ''), login: idOf(row?.login ?? '') }
}

/** An id in hex; '' where the warehouse holds zeros because there is none. */
export function idOf(hex: string): string {
  return /^0*$/u.test(hex) ? '' : hex
}

const key = `toFixedString(unhex({purchaseKey:String}), 16)`

const daysSql = `
SELECT arrayMap(d -> toString(d), arraySort(groupUniqArrayArray(days))) AS days
FROM purchase WHERE purchase_key = ${key}`

const headColumns = `
  lower(hex(delivery_id)) AS deliveryId, toUnixTimestamp64Milli(received_at) AS receivedAtMs, verdict,
  site_id AS siteId, currency, lower(hex(content_hash)) AS contentHash,
  toUInt32(length(line_quantity)) AS lineCount, toString(day) AS filedDay, toUInt32(count() OVER ()) AS totalCount`

/** Follows the sorting key of the table, which begins with day, publisher and purchase. */
const inOrder = `
  day IN (SELECT toDate(arrayJoin({days:Array(String)})))
    AND publisher_id = {publisherId:Int32} AND purchase_key = ${key}`

const once = 'LIMIT 1 BY delivery_id'

const validSql = `
SELECT ${headColumns} FROM (SELECT * FROM delivery WHERE ${inOrder} AND ${isValidSql(key)} ${once})
ORDER BY receivedAtMs, deliveryId LIMIT {readMax:UInt32}`

/**
 * No table lists deliveries that cannot win by purchase. The bloom filter on the key leaves one granule in
 * a hundred to be read.
 */
const othersSql = `
SELECT ${headColumns} FROM (
  SELECT * FROM delivery
  WHERE purchase_key = ${key} AND publisher_id = {publisherId:Int32} AND NOT ${isValidSql(key)} ${once}
)
ORDER BY receivedAtMs, deliveryId LIMIT {readMax:UInt32}`

const judgedSql = `
SELECT lower(hex(delivery_id)) AS deliveryId, last.3 AS verdict,
  toUnixTimestamp64Milli(toDateTime64(last.1, 3, 'UTC')) AS judgedAtMs
FROM (${judgementsSql(key)}) LIMIT 100000`

const inList = `
  ${inOrder} AND delivery_id IN (SELECT toFixedString(unhex(arrayJoin({deliveryIds:Array(String)})), 16))`

const linesSql = `
SELECT lower(hex(delivery_id)) AS deliveryId,
  arraySlice(CAST(
    arrayZip(line_gtin, line_gtin_key, line_group_id, line_brand, line_price, line_quantity,
      arrayMap(v -> toString(v), line_value), arrayMap(v -> toString(v), line_verdict)),
    'Array(Tuple(gtin String, gtinKey String, groupId String, brand String, price Float64, quantity Int32,
      value String, verdict String))'
  ), 1, {linesMax:UInt32}) AS lines
FROM delivery WHERE ${inList} ${once} LIMIT 1000`

const identitiesSql = `
SELECT lower(hex(user_identity)) AS user, lower(hex(login_identity)) AS login
FROM delivery WHERE ${inList} LIMIT 1`
