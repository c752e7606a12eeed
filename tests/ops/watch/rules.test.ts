import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { parse } from 'yaml'
import { rulesFor, type Looks } from '../../../src/ops/watch/rules.ts'
import type { VitalSigns } from '../../../src/ops/watch/vital-signs.ts'
import { calmSigns } from './signs.ts'

const gibibyte = 1024 ** 3
const rules = rulesFor({ spoolBytesMax: 10 * gibibyte })

interface FileRule {
  readonly alert: string
  readonly for?: string
  readonly labels: { readonly severity: string }
}

// oxlint-disable-next-line typescript/no-unsafe-type-assertion
const file = parse(readFileSync('docs/alerts.yaml', 'utf8')) as {
  readonly groups: readonly { readonly rules: readonly FileRule[] }[]
}

const units: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000 }

function msOf(text = '0m'): number {
  return Number.parseInt(text, 10) * (units[text.at(-1) ?? ''] ?? Number.NaN)
}

/** One look, an hour after the start of the engine. */
function looksAt(changes: Partial<VitalSigns>, before: readonly VitalSigns[] = []): Looks {
  const latest = calmSigns(3_600_000, changes)
  const looks = [...before, latest]
  return {
    latest,
    within: (ms) => looks.filter(({ atMs }) => atMs > latest.atMs - ms),
    startsMs: [0],
  }
}

function badNames(looks: Looks): readonly string[] {
  return rules.filter((rule) => rule.judge(looks) !== null).map(({ name }) => name)
}

test('a node judges itself by every rule of docs/alerts.yaml but the one for a node that is down, in its order', () => {
  const fromFile = file.groups
    .flatMap((group) => group.rules)
    .filter(({ alert }) => alert !== 'ShelftraceDown')
    .map((rule) => ({ name: rule.alert, forMs: msOf(rule.for), severity: rule.labels.severity }))

  assert.deepEqual(
    rules.map(({ name, forMs, severity }) => ({ name, forMs, severity })),
    fromFile
  )
})

test('nothing is wrong with a node that is well', () => {
  assert.deepEqual(badNames(looksAt({})), [])
})

/** What is just usual, and what is just too much. */
const bounds: readonly (readonly [string, Partial<VitalSigns>, Partial<VitalSigns>])[] = [
  ['ShelftraceSpoolLag', { spoolLagMs: 60_000 }, { spoolLagMs: 60_001 }],
  ['ShelftraceSpoolFills', { spoolBytes: 5 * gibibyte }, { spoolBytes: 5 * gibibyte + 1 }],
  ['ShelftraceStepFails', { failingSteps: [] }, { failingSteps: ['ship'] }],
  ['ShelftraceClockOffset', { clockOffsetMs: -1_000 }, { clockOffsetMs: -1_001 }],
  ['ShelftraceClockOffset', { clockOffsetMs: null }, { clockOffsetMs: 1_001 }],
  ['ShelftraceNodeSilent', { silentNodes: 0 }, { silentNodes: 1 }],
  ['ShelftraceTrackerSilent', { trackersAlive: 1 }, { trackersAlive: 0 }],
  [
    'ShelftraceEventsRefused',
    { refused: new Map([['full', 0]]) },
    { refused: new Map([['full', 1]]) },
  ],
  [
    'ShelftraceRequestsInvalid',
    { answers: new Map([['/conversion', { all: 100, wrong: 5 }]]) },
    { answers: new Map([['/conversion', { all: 100, wrong: 6 }]]) },
  ],
  ['ShelftraceAttributionLag', { attributionLagMs: 300_000 }, { attributionLagMs: 300_001 }],
  ['ShelftraceDaysUnsealed', { unsealedDays: 2 }, { unsealedDays: 3 }],
  ['ShelftraceSetAside', { setAside: 0 }, { setAside: 1 }],
  ['ShelftraceNotBelieved', { notBelieved: [] }, { notBelieved: ['publisher 1'] }],
  [
    'ShelftraceBackupOld',
    { lastBackupAtMs: 3_600_000 - 93_600_000 },
    { lastBackupAtMs: 3_600_000 - 93_600_001 },
  ],
  // Where backups are not the node's, none is missing.
  [
    'ShelftraceBackupOld',
    { lastBackupAtMs: undefined, installedAtMs: -1e12 },
    { lastBackupAtMs: null, installedAtMs: -1e12 },
  ],
  // A new installation has as long for its first backup.
  [
    'ShelftraceBackupOld',
    { lastBackupAtMs: null, installedAtMs: 3_600_000 - 93_600_000 },
    { lastBackupAtMs: null, installedAtMs: 3_600_000 - 93_600_001 },
  ],
]

for (const [name, usual, tooMuch] of bounds) {
  test(`${name} stays silent at its bound and speaks beyond it: ${Object.keys(usual).join()}`, () => {
    assert.deepEqual(badNames(looksAt(usual)), [])
    assert.deepEqual(badNames(looksAt(tooMuch)), [name])
  })
}

test('what the warehouse does not say is neither good nor bad', () => {
  assert.deepEqual(
    badNames(
      looksAt({
        silentNodes: null,
        unsealedDays: null,
        notBelieved: null,
        installedAtMs: null,
        lastBackupAtMs: null,
      })
    ),
    []
  )
})

test('a node without trackers does not lack them', () => {
  assert.deepEqual(badNames(looksAt({ trackersAlive: null })), [])
})

test('four starts after the first within an hour are too many', () => {
  assert.deepEqual(badNames({ ...looksAt({}), startsMs: [1, 2, 3, 4] }), [])
  assert.deepEqual(badNames({ ...looksAt({}), startsMs: [1, 2, 3, 4, 5] }), [
    'ShelftraceEngineRestarts',
  ])
})

function at(minutesAgo: number, changes: Partial<VitalSigns>): Looks {
  return looksAt({}, [calmSigns(3_600_000 - minutesAgo * 60_000, changes)])
}

test('refused events count for five minutes, records set aside for an hour', () => {
  const refused = new Map([['full', 3]])
  assert.deepEqual(badNames(at(4.9, { refused })), ['ShelftraceEventsRefused'])
  assert.deepEqual(badNames(at(5, { refused })), [])
  assert.deepEqual(badNames(at(59, { setAside: 1 })), ['ShelftraceSetAside'])
  assert.deepEqual(badNames(at(60, { setAside: 1 })), [])
})

function looksOf(before: readonly number[], trackingSeconds: readonly number[]): Looks {
  return looksAt({ trackingSeconds }, [calmSigns(3_590_000, { trackingSeconds: before })])
}

test('latencies are judged over all answers of the window, not by the latest alone', () => {
  const fast = [0, 0, 0, 980, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
  const slow = [0, 0, 0, 0, 0, 0, 0, 0, 20, 0, 0, 0, 0, 0]
  assert.deepEqual(badNames(looksOf(fast, slow)), ['ShelftraceTrackingSlow'])
  assert.deepEqual(
    badNames(
      looksOf(
        fast,
        slow.map((count) => count / 4)
      )
    ),
    []
  )
})

function reports(fast: number, slow: number): readonly number[] {
  return calmSigns(0).reportSeconds.map((_, index) =>
    index === 5 ? fast : index === 13 ? slow : 0
  )
}

test('reports are slow when one in twenty takes longer than ten seconds', () => {
  assert.deepEqual(badNames(looksAt({ reportSeconds: reports(94, 6) })), ['ShelftraceReportsSlow'])
  assert.deepEqual(badNames(looksAt({ reportSeconds: reports(96, 4) })), [])
})
