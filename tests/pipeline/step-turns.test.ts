import assert from 'node:assert/strict'
import { test } from 'node:test'
import { divide, undivided } from '../../src/domain/division.ts'
import type { Division } from '../../src/domain/division.ts'
import { StepTurns } from '../../src/pipeline/step-turns.ts'

const nothing: Division = { nodeCount: 2, owns: () => false }

function counting(division: () => Division) {
  const time = { nowMs: 0 }
  const done = { count: 0 }
  const turns = new StepTurns(division, () => time.nowMs)
  const step = turns.share('sweep', 300_000, async () => {
    done.count += 1
    return await Promise.resolve(true)
  })
  return { time, done, step }
}

test('an engine that is alone does every step whenever it is due', async () => {
  const { done, step } = counting(() => undivided)

  assert.deepEqual([await step(), await step(), await step()], [true, true, true])
  assert.equal(done.count, 3)
})

test('a step of another engine is done thirty times as seldom, and then once', async () => {
  const { time, done, step } = counting(() => nothing)

  assert.equal(await step(), false)
  time.nowMs = 30 * 300_000 - 1
  assert.equal(await step(), false)
  assert.equal(done.count, 0)
  time.nowMs += 1
  assert.deepEqual([await step(), await step()], [false, false])
  assert.equal(done.count, 1)
})

test('a step whose owner is gone is done by another engine as soon as that one knows', async () => {
  const living = ['a', 'b']
  const owners = ['a', 'b'].map((id) => counting(() => divide(id, living)))
  for (const { step } of owners) await step()
  const idle = owners.find(({ done }) => done.count === 0)
  assert.equal(owners.filter(({ done }) => done.count === 1).length, 1)

  living.splice(0, 2, owners.indexOf(idle!) === 0 ? 'a' : 'b')
  assert.equal(await idle!.step(), true)
})
