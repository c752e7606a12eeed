import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SeriesRows } from '../../dashboard/src/series-rows.ts'
import { judgeBase } from '../../dashboard/src/comparison-base.ts'
import type { Loaded } from '../../dashboard/src/loaded.ts'
import { parseView } from '../../dashboard/src/view.ts'

const market = {
  newest: '2026-11-29',
  lastWhole: '2026-11-27',
  lastWholeOf: new Map([
    ['EUR', '2026-11-27'],
    ['JPY', '2026-11-28'],
  ]),
}
const series: SeriesRows = {
  days: [],
  totals: [],
  firstDay: '2026-11-10',
  completeThrough: null,
  renewingDays: [],
  unconverted: 0,
}
const ready: Loaded<SeriesRows> = { state: 'ready', value: series, refresh: () => undefined }
const failed = {
  state: 'failed',
  messages: ['no'],
  isUnknown: false,
  retry: () => undefined,
} as const

function judge(query: string, changes: Partial<Parameters<typeof judgeBase>[0]> = {}) {
  const view = parseView(new URLSearchParams(query), market)
  return judgeBase({
    view,
    market,
    currency: 'EUR',
    base: ready,
    firstDay: '2026-11-10',
    ...changes,
  })
}

test('a period is compared where the days before are later than the first figures', () => {
  assert.deepEqual(judge('from=2026-11-20&to=2026-11-27').tile, { state: 'known', total: null })
  assert.equal(judge('from=2026-11-18&to=2026-11-25').tile.state, 'known')
  assert.deepEqual(judge('from=2026-11-17&to=2026-11-24').tile, {
    state: 'none',
    words: 'no full period before',
  })
  assert.match(judge('from=2026-11-17&to=2026-11-24').note, /figures begin on/u)
})

test('days that are running in a market of the currency are so far, and compared with nothing', () => {
  const query = 'from=2026-11-28&to=2026-11-28'
  assert.deepEqual(judge(query).tile, { state: 'none', words: 'so far' })
  assert.equal(judge(query, { currency: 'JPY' }).tile.state, 'known')
  // Of all currencies in yen, the markets in euros are running.
  const converted = { currency: 'JPY', isConverted: true }
  assert.deepEqual(judge(query, converted).tile, { state: 'none', words: 'so far' })
})

test('who compares with nothing reads nothing of it, and a comparison that failed is told so', () => {
  assert.deepEqual(judge('base=none'), { tile: { state: 'none', words: '' }, note: '' })
  const days = 'from=2026-11-20&to=2026-11-27'
  assert.match(judge(days, { base: failed }).note, /cannot be read now/u)
  assert.equal(judge(days, { base: { state: 'loading', previous: null } }).tile.state, 'loading')
})
