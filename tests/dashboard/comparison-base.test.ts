import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SeriesRows } from '../../dashboard/src/series-rows.ts'
import { judgeBase } from '../../dashboard/src/comparison-base.ts'
import type { Loaded } from '../../dashboard/src/loaded.ts'
import { baseOf } from '../../dashboard/src/bases.ts'
import { carriedOn, parseView } from '../../dashboard/src/view.ts'

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

test('who compares with nothing reads nothing of it, and a comparison that failed is told so and can be asked for again', () => {
  assert.deepEqual(judge('base=none'), {
    tile: { state: 'none', words: '' },
    note: '',
    retry: null,
  })
  const days = 'from=2026-11-20&to=2026-11-27'
  assert.match(judge(days, { base: failed }).note, /cannot be read now/u)
  assert.equal(judge(days, { base: failed }).retry, failed.retry, 'it can be asked for again')
  assert.equal(judge(days).retry, null)
  assert.equal(judge(days, { base: { state: 'loading', previous: null } }).tile.state, 'loading')
})

const chosen = (from: string, to: string) =>
  judge(`from=2026-11-18&to=2026-11-20&base=chosen&base-from=${from}&base-to=${to}`)

test('chosen days are compared where they are over and apart from the period, whether before or after it', () => {
  assert.equal(chosen('2026-11-15', '2026-11-17').tile.state, 'known')
  assert.equal(chosen('2026-11-21', '2026-11-23').tile.state, 'known')
  assert.doesNotMatch(chosen('2026-11-21', '2026-11-23').note, /equally long/u)
  assert.match(chosen('2026-11-21', '2026-11-22').note, /not equally long: 3 and 2 days/u)
  assert.equal(chosen('2026-11-21', '2026-11-27').tile.state, 'known')
  assert.match(chosen('2026-11-21', '2026-11-28').note, /not over yet/u)
  assert.equal(chosen('2026-11-21', '2026-11-28').tile.state, 'none')
  assert.match(chosen('2026-11-09', '2026-11-12').note, /figures begin on/u)
  for (const [from, to] of [
    ['2026-11-20', '2026-11-22'],
    ['2026-11-16', '2026-11-18'],
    ['2026-11-19', '2026-11-19'],
    ['2026-11-01', '2026-11-27'],
  ] as const) {
    const { tile, note } = chosen(from, to)
    assert.deepEqual(tile, { state: 'none', words: '' }, from)
    assert.match(note, /overlap the period/u, from)
  }
  for (const [from, to] of [
    ['2026-11-17', '2026-11-16'],
    ['2024-11-01', '2026-11-17'],
    ['2026-02-30', '2026-11-17'],
    ['', ''],
  ] as const) {
    assert.equal(chosen(from, to).tile.state, 'none', from)
    assert.match(chosen(from, to).note, /at most 731 days/u, from)
  }
})

test('a period by name stays so beside chosen days, which may come to overlap it', () => {
  const query = new URLSearchParams(
    'period=last-7&base=chosen&base-from=2026-11-14&base-to=2026-11-20'
  )
  const today = parseView(query, market)
  assert.deepEqual([today.period, today.startDate], ['last-7', '2026-11-21'])
  assert.deepEqual(baseOf(today), { startDate: '2026-11-14', endDate: '2026-11-20' })
  const before = parseView(query, { ...market, lastWhole: '2026-11-26' })
  assert.deepEqual([before.startDate, baseOf(before)], ['2026-11-20', null])
  assert.match(carriedOn(query).toString(), /base-from=2026-11-14&base-to=2026-11-20/u)
})
