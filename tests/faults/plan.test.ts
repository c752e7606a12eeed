import assert from 'node:assert/strict'
import { test } from 'node:test'
import { faultKinds, findKinds } from './kinds/kinds.ts'
import { planRounds, printMix } from './plan.ts'

const plan = (seed: number) => planRounds({ seed, faultCount: 100, kinds: faultKinds })
const namesOf = (texts: readonly string[]) => findKinds(texts).map(({ name }) => name)

test('a seed plans the same faults each time, as many as are asked for, and another seed plans others', () => {
  const faults = plan(7).flatMap((round) => round.faults)

  assert.deepEqual(plan(7), plan(7))
  assert.notDeepEqual(plan(7), plan(8))
  assert.equal(faults.length, 100)
  assert.match(printMix(plan(7)), /^\d+ × .*kill engine/u)
})

test('faults that work on the same thing never strike at once', () => {
  const rounds = planRounds({ seed: 1, faultCount: 2_000, kinds: faultKinds })
  const pairs = rounds.filter(({ faults }) => faults.length === 2)

  assert.ok(pairs.length > 100)
  for (const { faults } of pairs) {
    const targets = faults.flatMap(({ kind }) => kind.targets)
    assert.equal(new Set(targets).size, targets.length, faults.map(({ kind }) => kind.name).join())
  }
})

test('kinds are chosen by name or by first words, and a name that is none is refused with all that there are', () => {
  assert.deepEqual(namesOf(['kill engine', 'slow']), ['kill engine', 'slow readers'])
  assert.equal(namesOf(['stop']).length, 4)
  assert.throws(() => findKinds(['sto']), /no kind of fault is called "sto"; there are\n {2}kill/u)
})
