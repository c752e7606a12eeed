import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { addDays } from '../../src/domain/day.ts'
import { intervals } from '../../src/domain/interval.ts'
import { labelledStarts, pointsOf } from '../../dashboard/src/chart-points.ts'

test('the points of a period have each of its days once, whatever they stand for', () => {
  const day = fc.integer({ min: 0, max: 9_000 }).map((count) => addDays('2020-01-01', count))
  fc.assert(
    fc.property(day, fc.integer({ min: 1, max: 731 }), (startDate, count) => {
      const endDate = addDays(startDate, count - 1)
      for (const interval of intervals) {
        const points = pointsOf({ startDate, endDate, interval }, endDate)
        assert.deepEqual([points[0]?.startDate, points.at(-1)?.endDate], [startDate, endDate])
        for (const [index, point] of points.entries()) {
          const next = points[index + 1]
          if (next !== undefined) assert.equal(addDays(point.endDate, 1), next.startDate)
          assert.ok(point.start <= point.startDate && point.startDate <= point.endDate)
        }
      }
    })
  )
})

test('a week or month that the period cuts is not whole, and one that goes on is running', () => {
  const days = { startDate: '2026-11-04', endDate: '2026-11-20' }
  const weeks = pointsOf({ ...days, interval: 'WEEK' }, '2026-11-19')

  assert.deepEqual(
    weeks.map(({ start, isWhole, isRunning }) => [start, isWhole, isRunning]),
    [
      ['2026-11-02', false, false],
      ['2026-11-09', true, false],
      ['2026-11-16', false, true],
    ]
  )
  const [month] = pointsOf(
    { startDate: '2026-02-01', endDate: '2026-02-28', interval: 'MONTH' },
    '2026-03-01'
  )
  assert.equal(month?.isWhole, true)
})

test('an axis is labelled at starts, none twice, and with no more than it has room for', () => {
  for (const dayCount of [1, 2, 7, 28, 62, 90, 365, 400, 731]) {
    for (const widthPx of [200, 600, 1_100]) {
      const startDate = '2025-01-15'
      const labels = labelledStarts(
        { startDate, endDate: addDays(startDate, dayCount - 1) },
        widthPx
      )
      const room = Math.max(2, Math.floor(widthPx / 72))
      assert.ok(labels.length <= room, `${dayCount} days on ${widthPx}: ${labels.join()}`)
      assert.ok(labels.length >= Math.min(dayCount, 2), `${dayCount} days on ${widthPx}`)
      assert.equal(new Set(labels).size, labels.length)
    }
  }
})
