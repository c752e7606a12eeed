// Decides which purchases are attributed together. A batch is a range of the instants under which they are
// pending, and a range of keys where one instant holds too many.

import type { Warehouse } from '../warehouse/warehouse.ts'
import { batchRows } from './batch-sql.ts'

export interface Range {
  readonly from: string
  readonly to: string
  /** 32 hex digits each. */
  readonly keyFrom: string
  readonly keyTo: string
}

export interface Batch extends Range {
  readonly purchaseCount: number
  /** Whether it failed before, or is part of a batch that did. */
  readonly isSuspect: boolean
  /** How often it reached a limit when it held one purchase only. */
  readonly limitCount: number
}

export interface PendingGroup {
  readonly shippedAt: string
  readonly pendingCount: number
  readonly dueCount: number
}

const untried = {
  keyFrom: '0'.repeat(32),
  keyTo: 'f'.repeat(32),
  isSuspect: false,
  limitCount: 0,
} as const
/** A range that holds no purchase. */
export const noKeys = { keyFrom: 'f'.repeat(32), keyTo: '0'.repeat(32) }

/**
 * Ranges with something due in them; what is answered in between is done again. No range reaches across an
 * instant that is apart.
 */
export function planBatches(
  groups: readonly PendingGroup[],
  options: { readonly purchasesMax: number; readonly isApart: (group: PendingGroup) => boolean }
): Batch[] {
  const batches: Batch[] = []
  let answeredCount = 0
  let isOpen = false
  for (const group of groups) {
    const { shippedAt, pendingCount, dueCount } = group
    if (options.isApart(group)) {
      isOpen = false
      continue
    }
    if (dueCount === 0) {
      answeredCount += pendingCount
      continue
    }
    const last = batches.at(-1)
    const purchaseCount = (last?.purchaseCount ?? 0) + answeredCount + pendingCount
    if (isOpen && last !== undefined && purchaseCount <= options.purchasesMax) {
      batches[batches.length - 1] = { ...last, to: shippedAt, purchaseCount }
    } else {
      batches.push({ ...untried, from: shippedAt, to: shippedAt, purchaseCount: pendingCount })
    }
    isOpen = true
    answeredCount = 0
  }
  return batches
}

/**
 * Cuts the batch in halves, by the instants of shipping if there are several, else by the keys. A batch of
 * one purchase under one instant comes back alone, and an empty one gives nothing.
 */
export async function halve(
  warehouse: Pick<Warehouse, 'rows'>,
  batch: Batch
): Promise<readonly Batch[]> {
  const { from, to, keyFrom, keyTo } = batch
  const params = { from, to, keyFrom, keyTo }
  if (from !== to) {
    const instants = await warehouse.rows<ValueCount>(instantsSql, params)
    if (instants.length > 1) {
      const [low, high] = halvesOf(instants)
      return [
        { ...batch, to: low.last, purchaseCount: low.count },
        { ...batch, from: high.first, purchaseCount: high.count },
      ]
    }
  }
  const keys = await warehouse.rows<ValueCount>(keysSql, params)
  const [one] = keys
  if (one === undefined) return []
  if (keys.length === 1) {
    return [{ ...batch, keyFrom: one.value, keyTo: one.value, purchaseCount: 1 }]
  }
  const [low, high] = halvesOf(keys)
  return [
    { ...batch, keyFrom: low.first, keyTo: low.last, purchaseCount: low.count },
    { ...batch, keyFrom: high.first, keyTo: high.last, purchaseCount: high.count },
  ]
}

interface ValueCount {
  readonly value: string
  readonly count: number
}

interface Half {
  readonly first: string
  readonly last: string
  readonly count: number
}

/** Cuts two or more values where the counts are most alike; neither half is empty. */
function halvesOf(values: readonly ValueCount[]): readonly [Half, Half] {
  const total = values.reduce((sum, { count }) => sum + count, 0)
  let sum = 0
  const over = values.findIndex(({ count }) => (sum += count) * 2 >= total)
  const cut = Math.min(Math.max(1, over + 1), values.length - 1)
  return [halfOf(values.slice(0, cut)), halfOf(values.slice(cut))]
}

function halfOf(values: readonly ValueCount[]): Half {
  return {
    first: values[0]?.value ?? '',
    last: values.at(-1)?.value ?? '',
    count: values.reduce((sum, { count }) => sum + count, 0),
  }
}

const instantsSql = `
SELECT toString(shipped_at) AS value, count() AS count ${batchRows}
GROUP BY shipped_at ORDER BY shipped_at LIMIT 1000000`

const keysSql = `
SELECT lower(hex(purchase_key)) AS value, toUInt64(1) AS count ${batchRows}
GROUP BY purchase_key ORDER BY purchase_key LIMIT 1000000`

export const otherPurchaseSql = `
SELECT lower(hex(purchase_key)) AS key ${batchRows}
  AND purchase_key != toFixedString(unhex({otherKey:String}), 16)
LIMIT 1`
