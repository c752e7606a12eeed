import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SealShares } from '../../src/days/seal-shares.ts'
import type { Renewal, SealingWork } from '../../src/days/seal-work.ts'
import { divide, idle, undivided } from '../../src/domain/division.ts'
import type { Division } from '../../src/domain/division.ts'

const unitOf = (id: number) => ({ id, code: 'XX', currency: 'EUR', timeZone: 'UTC' })
const months = ['2026-01', '2026-02', '2026-03', '2026-04', '2026-05', '2026-06']
const days = months.flatMap((month) =>
  [1, 2, 3, 4].flatMap((unit) =>
    ['01', '28'].map((day) => ({ unit: unitOf(unit), day: `${month}-${day}` }))
  )
)
const work: SealingWork = {
  unsealed: days,
  // Only these fields matter here.
  renewals: days.map((one) => ({ ...one, isDue: true, touched: null }) as Renewal),
}
const namesOf = (of: readonly { unit: { id: number }; day: string }[]) =>
  of.map(({ unit, day }) => `${unit.id} ${day}`)
const dueOf = (chosen: SealingWork) => namesOf(chosen.renewals.filter(({ isDue }) => isDue))
const nothing: Division = { nodeCount: 2, owns: () => false }

test('two engines seal each month of a market between them, and one alone seals all', () => {
  const ids = ['a', 'b']
  const [a, b] = ids.map((id) => new SealShares(() => divide(id, ids)).choose(work))

  const [ofA, ofB] = [namesOf(a!.unsealed), namesOf(b!.unsealed)]
  assert.ok(ofA.length > 8 && ofB.length > 8)
  assert.deepEqual([...ofA, ...ofB].toSorted(), namesOf(days).toSorted())
  assert.deepEqual([dueOf(a!), dueOf(b!)], [ofA, ofB])
  for (const name of ofA) assert.ok(ofA.includes(name.replace(/\d\d$/u, '01')), name)
  assert.deepEqual(new SealShares(() => undivided).choose(work), work)
})

test('days to renew that are left to another engine may still be sealed along with linked ones', () => {
  const chosen = new SealShares(() => nothing).choose(work)

  assert.deepEqual(namesOf(chosen.renewals), namesOf(days))
  assert.deepEqual(dueOf(chosen), [])
  assert.deepEqual(chosen.unsealed, [])
})

test('what another engine leaves undone for ten minutes is taken over, and what it did meanwhile is not', () => {
  let nowMs = 0
  const shares = new SealShares(
    () => nothing,
    () => nowMs
  )
  const [first, ...others] = days
  shares.choose({ unsealed: days, renewals: [] })

  nowMs = 599_999
  assert.deepEqual(shares.choose({ unsealed: others, renewals: [] }).unsealed, [])
  nowMs = 600_000
  const late = shares.choose({ unsealed: days, renewals: [] }).unsealed

  assert.deepEqual(namesOf(late), namesOf(others))
  assert.ok(!namesOf(late).includes(namesOf([first!])[0]!))
})

test('an engine that does not know who else is there seals nothing, however long', () => {
  let nowMs = 0
  const shares = new SealShares(
    () => idle,
    () => nowMs
  )
  shares.choose(work)
  nowMs = 10_000_000

  assert.deepEqual(shares.choose(work).unsealed, [])
})
