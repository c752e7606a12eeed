import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { rulesFor } from '../../../src/ops/watch/rules.ts'
import type { VitalSigns } from '../../../src/ops/watch/vital-signs.ts'
import { Watch, watchPauseMs, type AlertChange } from '../../../src/ops/watch/watch.ts'
import { silentLog } from '../../helpers/silent-log.ts'
import { calmSigns } from './signs.ts'

const startMs = Date.UTC(2026, 2, 1)
let folder = ''
let nowMs = startMs
let changes: AlertChange[] = []

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'shelftrace-watch-'))
  nowMs = startMs
  changes = []
})
afterEach(() => rmSync(folder, { recursive: true }))

const path = () => join(folder, 'last-day.json')

function openWatch(readSigns: () => Promise<VitalSigns>): Watch {
  return new Watch({
    clock: () => nowMs,
    log: silentLog,
    path: path(),
    rules: rulesFor({ spoolBytesMax: 1_000 }),
    readSigns,
    onChange: (change) => changes.push(change),
  })
}

/** Looks as often as a running watch would. */
async function pass(watch: Watch, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += watchPauseMs) {
    nowMs += watchPauseMs
    await watch.look()
  }
}

const minute = 60_000

test('an alert is told once, after its time, with the beginning of the trouble, and once more when it is over', async () => {
  let spoolLagMs = 0
  const watch = openWatch(() => Promise.resolve(calmSigns(nowMs, { spoolLagMs })))
  await pass(watch, minute)
  spoolLagMs = 61_000
  await pass(watch, 5 * minute)
  assert.deepEqual(watch.alerts(), [])

  await pass(watch, 2 * minute)

  const [alert] = watch.alerts()
  assert.equal(alert?.name, 'ShelftraceSpoolLag')
  assert.equal(alert.since, new Date(startMs + minute + watchPauseMs).toISOString())
  assert.deepEqual(
    changes.map(({ type }) => type),
    ['alert.firing']
  )

  spoolLagMs = 0
  await pass(watch, watchPauseMs)

  assert.deepEqual(watch.alerts(), [])
  assert.deepEqual(
    changes.map(({ type }) => type),
    ['alert.firing', 'alert.resolved']
  )
  assert.deepEqual(watch.history().ended, [
    {
      name: 'ShelftraceSpoolLag',
      severity: 'page',
      since: alert.since,
      until: new Date(nowMs).toISOString(),
    },
  ])
})

test('trouble that comes and goes before its time is no alert', async () => {
  let isBad = false
  const watch = openWatch(() =>
    Promise.resolve(calmSigns(nowMs, { spoolLagMs: isBad ? 100_000 : 0 }))
  )
  for (let turn = 0; turn < 4; turn += 1) {
    isBad = !isBad
    await pass(watch, 4 * minute)
  }
  assert.deepEqual([watch.alerts(), changes], [[], []])
})

test('pages come before tickets, older ones before newer', async () => {
  let signs: Partial<VitalSigns> = { lastBackupAtMs: null }
  const watch = openWatch(() => Promise.resolve(calmSigns(nowMs, signs)))
  await pass(watch, minute)
  signs = { lastBackupAtMs: null, spoolBytes: 501 }
  await pass(watch, minute)
  signs = { ...signs, spoolLagMs: 61_000 }
  await pass(watch, 6 * minute)
  assert.deepEqual(
    watch.alerts().map(({ name }) => name),
    ['ShelftraceSpoolFills', 'ShelftraceSpoolLag', 'ShelftraceBackupOld']
  )
})

test('an alert outlives a restart without being told again, and its end is told even if it came meanwhile', async () => {
  let spoolBytes = 501
  let lastBackupAtMs: number | null = null
  const open = () =>
    openWatch(() => Promise.resolve(calmSigns(nowMs, { spoolBytes, lastBackupAtMs })))
  const first = open()
  await pass(first, 7 * minute)
  const told = first.alerts().map(({ name }) => name)
  assert.deepEqual(told, ['ShelftraceSpoolFills', 'ShelftraceBackupOld'])
  changes = []

  const second = open()
  lastBackupAtMs = nowMs
  await pass(second, watchPauseMs)

  assert.deepEqual(
    second.alerts().map(({ name, since }) => [name, since]),
    [['ShelftraceSpoolFills', first.alerts()[0]?.since]]
  )
  assert.deepEqual(
    changes.map(({ type, alert }) => [type, alert.name]),
    [['alert.resolved', 'ShelftraceBackupOld']]
  )
  spoolBytes = 0
  await pass(second, watchPauseMs)
  assert.deepEqual(changes.at(-1)?.alert.name, 'ShelftraceSpoolFills')
})

test('an engine that starts again and again is found out by the starts that the node remembers', async () => {
  for (let start = 0; start < 5; start += 1) {
    await pass(
      openWatch(() => Promise.resolve(calmSigns(nowMs))),
      minute
    )
  }
  assert.deepEqual(
    changes.map(({ alert }) => alert.name),
    ['ShelftraceEngineRestarts']
  )
})

test('each minute has one point with its sums and its worst, and a day is all that is kept', async () => {
  let turn = 0
  const watch = openWatch(() => {
    turn += 1
    return Promise.resolve(calmSigns(nowMs, { shipped: 10, spoolLagMs: turn * 1_000 }))
  })
  await pass(watch, 2 * minute)
  const { points } = watch.history()
  assert.deepEqual(
    points.map(({ at, shipped, lagMs }) => ({ at, shipped, lagMs })),
    [
      { at: new Date(startMs + minute).toISOString(), shipped: 40, lagMs: 4_000 },
      { at: new Date(startMs + 2 * minute).toISOString(), shipped: 40, lagMs: 8_000 },
    ]
  )

  nowMs += 24 * 60 * minute - minute
  await pass(watch, minute)

  assert.equal(watch.history().points.length, 1)
  assert.equal(statSync(path()).mode & 0o777, 0o600)
})

test('a file that holds nothing fit is a day of which nothing is known', async () => {
  for (const content of ['', '{"points":[{}]}', 'null']) {
    writeFileSync(path(), content)
    const watch = openWatch(() => Promise.resolve(calmSigns(nowMs)))
    assert.deepEqual(watch.history(), { points: [], ended: [] })
    await pass(watch, minute)
    assert.equal(watch.history().points.length, 1)
  }
})

/** A watch that is started, as the process of an engine does it. */
async function begin(): Promise<Watch> {
  nowMs += 1_000
  const watch = openWatch(() => Promise.resolve(calmSigns(nowMs)))
  watch.start()
  await until(() => startsIn(readFileSync(path(), 'utf8')).includes(nowMs))
  return watch
}

function startsIn(text: string): readonly number[] {
  const day: { readonly startsMs: readonly number[] } = JSON.parse(text)
  return day.startsMs
}

async function until(isTrue: () => boolean): Promise<void> {
  for (let tries = 0; tries < 500; tries += 1) {
    try {
      if (isTrue()) return
    } catch {
      // The file is not there yet.
    }
    await sleep(10)
  }
  assert.fail('the start is not written')
}

test('engines that die within seconds are counted, and those that end as they should are not', async () => {
  for (let count = 0; count < 5; count += 1) {
    const ended = await begin()
    await ended.close()
  }
  const afterEnds = await begin()
  await afterEnds.look()
  const calm = afterEnds.alerts()
  // From here on none of them is closed: each died a second after its start.
  const died = [afterEnds, await begin(), await begin(), await begin()]
  const last = await begin()
  await last.look()

  assert.deepEqual(calm, [])
  assert.deepEqual(
    last.alerts().map(({ name }) => name),
    ['ShelftraceEngineRestarts']
  )
  for (const watch of [...died, last]) await watch.close()
})
