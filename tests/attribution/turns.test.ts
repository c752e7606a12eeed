// Several engines on the same purchases, with time set by hand. What they compute is tested against ClickHouse.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Attributor } from '../../src/attribution/attribute.ts'
import { divide, idle, undivided } from '../../src/domain/division.ts'
import type { Division } from '../../src/domain/division.ts'
import { PendingModel } from './pending-model.ts'

const healthy = { code: undefined, of: [] }

/** Lets engines work for a while: each is asked every 250 ms, and at once when it has more to do. */
async function run(
  model: PendingModel,
  engines: readonly Attributor[],
  { seconds, perSecond = 0 }: { seconds: number; perSecond?: number }
): Promise<void> {
  for (let step = 0; step < seconds * 4; step += 1) {
    if (step % 4 === 0 && perSecond > 0) model.ship((shipped += perSecond) - perSecond, perSecond)
    for (const engine of engines) while ((await engine.attributeBatch()).hasMore);
    model.passTime(250)
  }
}

let shipped = 0

async function statementsOf(divisions: readonly (() => Division)[]) {
  const model = new PendingModel(healthy)
  const engines = divisions.map((division) => model.addEngine(division))
  await run(model, engines, { seconds: 300, perSecond: 5 })
  assert.equal(model.countOf('pending'), 0)
  return { count: model.statementCount, triedCount: sum(model.tries), model }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0)
}

test('two and three engines that know of each other do at most 1.1 times the statements of one, try no purchase twice, and keep nobody waiting', async () => {
  const one = await statementsOf([() => undivided])
  for (const ids of [
    ['a', 'b'],
    ['a', 'b', 'c'],
  ]) {
    const all = await statementsOf(ids.map((id) => () => divide(id, ids)))

    assert.ok(all.count <= one.count * 1.1, `${all.count} statements, ${one.count} of one engine`)
    assert.equal(all.triedCount, 1_500)
    assert.ok(all.model.slowestMs() < 1_000, `${all.model.slowestMs()} ms`)
  }
})

test('an engine that does not know yet who else is there asks and does nothing', async () => {
  const model = new PendingModel(healthy)
  const engine = model.addEngine(() => idle)
  model.ship(0, 10)
  await run(model, [engine], { seconds: 30 })

  assert.equal(model.statementCount, 0)
  assert.equal(engine.settledThrough(), null)
})

test('what an engine leaves to another one is told as waiting, and not as settled', async () => {
  const model = new PendingModel(healthy)
  const engine = model.addEngine(() => nothingOf(2))
  model.ship(0, 10)
  model.passTime(20_000)
  await engine.attributeBatch()

  assert.notEqual(engine.oldestDueAt(), null)
  assert.equal(engine.settledThrough(), engine.oldestDueAt())
  assert.equal(model.countOf('pending'), 10)
})

test('an engine that is there and does nothing delays a purchase by 90 seconds at most', async () => {
  const model = new PendingModel(healthy)
  const engine = model.addEngine(() => divide('a', ['a', 'b']))

  await run(model, [engine], { seconds: 600, perSecond: 5 })
  await run(model, [engine], { seconds: 90 })

  assert.equal(model.countOf('pending'), 0)
  assert.ok(model.slowestMs() <= 90_000, `${model.slowestMs()} ms`)
})

test('an engine that dies delays nothing beyond the half minute until the others know, and the ten seconds until they look', async () => {
  const model = new PendingModel(healthy)
  const living = ['a', 'b']
  const [a, b] = ['a', 'b'].map((id) => model.addEngine(() => divide(id, living)))
  await run(model, [a!, b!], { seconds: 100, perSecond: 5 })

  await run(model, [a!], { seconds: 30, perSecond: 5 })
  living.pop()
  await run(model, [a!], { seconds: 11, perSecond: 5 })
  await run(model, [a!], { seconds: 1 })

  assert.equal(model.countOf('pending'), 0)
  assert.ok(model.slowestMs() <= 41_000, `${model.slowestMs()} ms`)
})

test('whatever engines believe of each other, and however that changes, no purchase is passed over', async () => {
  const views = ['alone', 'both', 'other', 'unknown'] as const
  const action = fc.oneof(
    fc.record({ kind: fc.constant('ship' as const), count: fc.integer({ min: 1, max: 3 }) }),
    fc.record({ kind: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 40_000 }) }),
    fc.record({ kind: fc.constant('work' as const), engine: fc.integer({ min: 0, max: 1 }) }),
    fc.record({
      kind: fc.constant('view' as const),
      engine: fc.integer({ min: 0, max: 1 }),
      view: fc.constantFrom(...views),
    })
  )
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 60 }), async (actions) => {
      const model = new PendingModel(healthy)
      const believed: (typeof views)[number][] = ['both', 'both']
      const ids = ['a', 'b']
      const engines = ids.map((id, index) =>
        model.addEngine(() => {
          const view = believed[index]!
          if (view === 'alone') return undivided
          if (view === 'unknown') return idle
          return view === 'other' ? nothingOf(2) : divide(id, ids)
        })
      )
      let count = 0
      for (const one of actions) {
        if (one.kind === 'ship') model.ship((count += one.count) - one.count, one.count)
        if (one.kind === 'pass') model.passTime(one.ms)
        if (one.kind === 'work') await engines[one.engine]!.attributeBatch()
        if (one.kind === 'view') believed[one.engine] = one.view
        const settled = engines.map((engine) => engine.settledThrough())
        for (const through of settled) {
          if (through !== null) assert.ok(through <= (model.oldestPending() ?? through))
        }
      }

      believed[0] = 'alone'
      while ((await engines[0]!.attributeBatch()).hasMore);
      await engines[0]!.attributeBatch()

      assert.equal(model.countOf('pending'), 0)
    }),
    { numRuns: 300 }
  )
})

async function askAlone(isQuiet: boolean) {
  const model = new PendingModel(healthy)
  const engine = model.addEngine(
    () => undivided,
    () => isQuiet
  )
  await run(model, [engine], { seconds: 60 })
  const { statementCount } = model
  model.ship(0, 10)
  await run(model, [engine], { seconds: 3 })
  assert.equal(model.countOf('pending'), 0)
  return { statementCount, waitedMs: model.slowestMs() }
}

test('an engine that is alone looks an eighth as often while nothing is shipped, and what comes all the same waits two seconds', async () => {
  const [quiet, busy] = [await askAlone(true), await askAlone(false)]

  assert.ok(quiet.statementCount * 7 < busy.statementCount, `${quiet.statementCount} statements`)
  assert.ok(quiet.waitedMs <= 2_250, `${quiet.waitedMs} ms`)
})

test('an engine among others keeps its pace while nothing is shipped: it does not hear of what they ship', async () => {
  const counts = []
  for (const isQuiet of [false, true]) {
    const model = new PendingModel(healthy)
    const engine = model.addEngine(
      () => divide('a', ['a', 'b']),
      () => isQuiet
    )
    await run(model, [engine], { seconds: 60 })
    counts.push(model.statementCount)
  }

  assert.equal(counts[0], counts[1])
})

/** One of so many engines that has no share. */
function nothingOf(nodeCount: number): Division {
  return { nodeCount, owns: () => false }
}
