// What judging again finds, summed over the parts of a scan.

import { formatDecimal, nanosScale, parseDecimal } from '../../domain/money.ts'
import { assert } from '../../lib/assert.ts'

export interface Counts {
  readonly looked: number
  readonly lost: number
  readonly gained: number
  readonly otherReason: number
  readonly voids: number
  readonly unknown: number
  readonly final: number
}

/** In one currency; `value` is a decimal of at most 9 digits. */
export interface Amount {
  readonly currency: string
  readonly count: number
  readonly units: number
  readonly value: string
}

export interface Tally {
  readonly counts: Counts
  /** Judgements that were written; of a dry run those that would be. */
  readonly changed: number
  readonly lostCredit: readonly Amount[]
  readonly gainedValue: readonly Amount[]
}

export const noCounts: Counts = {
  looked: 0,
  lost: 0,
  gained: 0,
  otherReason: 0,
  voids: 0,
  unknown: 0,
  final: 0,
}

export const noTally: Tally = { counts: noCounts, changed: 0, lostCredit: [], gainedValue: [] }

export function addTallies(one: Tally, other: Tally): Tally {
  return {
    counts: addCounts(one.counts, other.counts),
    changed: one.changed + other.changed,
    lostCredit: addAmounts([...one.lostCredit, ...other.lostCredit]),
    gainedValue: addAmounts([...one.gainedValue, ...other.gainedValue]),
  }
}

function addCounts(one: Counts, other: Counts): Counts {
  return {
    looked: one.looked + other.looked,
    lost: one.lost + other.lost,
    gained: one.gained + other.gained,
    otherReason: one.otherReason + other.otherReason,
    voids: one.voids + other.voids,
    unknown: one.unknown + other.unknown,
    final: one.final + other.final,
  }
}

/** One amount for each currency, by its code. */
export function addAmounts(amounts: readonly Amount[]): readonly Amount[] {
  const sums = new Map<string, { count: number; units: number; nanos: bigint }>()
  for (const { currency, count, units, value } of amounts) {
    const nanos = parseDecimal(value, nanosScale)
    assert(nanos !== null, 'an amount is a decimal')
    const sum = sums.get(currency) ?? { count: 0, units: 0, nanos: 0n }
    sums.set(currency, {
      count: sum.count + count,
      units: sum.units + units,
      nanos: sum.nanos + nanos,
    })
  }
  return [...sums]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([currency, { nanos, ...sum }]) =>
      Object.assign(sum, { currency, value: formatDecimal(nanos, nanosScale, nanosScale) })
    )
}
