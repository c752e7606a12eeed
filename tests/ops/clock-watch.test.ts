import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ClockWatch, clockLimits, isClockFit } from '../../src/ops/clock-watch.ts'
import { ServiceError } from '../../src/errors.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'
import { formatInstant } from '../../src/warehouse/instant.ts'

const startMs = Date.UTC(2026, 2, 2, 10)

interface World {
  /** What really passes; the warehouse's clock shows it. */
  elapsedMs: number
  /** By how much the node's clock is set ahead. */
  shiftMs: number
  answerMs: number
  isAway: boolean
}

function aWatch() {
  const world: World = { elapsedMs: 0, shiftMs: 0, answerMs: 0, isAway: false }
  const told: number[] = []
  const logged: string[] = []
  const note = (level: string) => () => void logged.push(level)
  const warehouse: Pick<Warehouse, 'rows'> = {
    rows: async <Row>() => {
      await Promise.resolve()
      if (world.isAway) throw new ServiceError('WAREHOUSE_UNAVAILABLE', 'away')
      world.elapsedMs += world.answerMs
      const now = `${formatInstant(startMs + world.elapsedMs)}000`
      return [{ now }] as Row[]
    },
  }
  const watch = new ClockWatch({
    warehouse,
    clock: () => startMs + world.elapsedMs + world.shiftMs,
    monotonicMs: () => world.elapsedMs,
    log: { info: note('info'), warn: note('warn'), error: note('error') },
    onOffset: (offsetMs) => void told.push(offsetMs),
  })
  return { world, watch, told, logged }
}

test('before the warehouse was asked nothing is known, and nothing is complained of', () => {
  const { watch, told } = aWatch()

  watch.look()

  assert.equal(watch.offsetMs(), null)
  assert.deepEqual(watch.complaints(), [])
  assert.deepEqual(told, [])
  assert.equal(isClockFit(null), true)
})

test('a clock more than a second off raises one alarm, and its mending ends it', async () => {
  const { world, watch, logged } = aWatch()

  for (const shiftMs of [1_000, 1_001, 1_500, -1_001, 1_000, 0]) {
    world.shiftMs = shiftMs
    await watch.read()
    watch.look()
  }

  assert.deepEqual(logged, ['warn', 'info'])
})

test('a clock more than a minute off, ahead or behind, is unfit; a minute is not', async () => {
  for (const sign of [1, -1]) {
    const { world, watch, told, logged } = aWatch()
    world.shiftMs = sign * clockLimits.readyMs
    await watch.read()
    assert.deepEqual(watch.complaints(), [])

    world.shiftMs += sign
    await watch.read()

    assert.deepEqual(watch.complaints(), [
      `the clock of this node is ${sign * 60_001} ms off that of the warehouse`,
    ])
    assert.equal(isClockFit(watch.offsetMs()), false)
    assert.deepEqual(logged, ['warn', 'error'])
    assert.deepEqual(told, [sign * 60_000])
  }
})

test('a clock that is set is noticed without the warehouse, and so is its being set back', async () => {
  const { world, watch, told } = aWatch()
  await watch.read()
  world.isAway = true

  world.elapsedMs += 3_600_000
  world.shiftMs = 90_000
  watch.look()
  assert.equal(watch.complaints().length, 1)
  await assert.rejects(watch.read())
  world.shiftMs = 0
  watch.look()

  assert.deepEqual(watch.complaints(), [])
  assert.deepEqual(told, [0, 90_000, 0])
})

test('a slow answer never looks like a wrong clock', async () => {
  const { world, watch, logged } = aWatch()

  for (const answerMs of [10, 500, 1_999, 2_001, 60_000, 200_000]) {
    world.answerMs = answerMs
    await watch.read()
    watch.look()
  }

  assert.equal(watch.offsetMs(), 0)
  assert.deepEqual(logged, [])
})
