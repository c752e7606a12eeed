import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseReportRequest } from '../../src/contract/report-request.ts'
import { parseSeriesRequest } from '../../src/contract/series-request.ts'

const range = { startDate: '2026-03-01', endDate: '2026-03-31' }

function faults(changes: object): readonly string[] {
  const parsed = parseSeriesRequest({ ...range, ...changes })
  return parsed.ok ? [] : parsed.messages
}

test('the body of a report is one of the sums, which are by day unless told otherwise', () => {
  const report = parseReportRequest(range)
  assert.ok(report.ok)

  assert.deepEqual(parseSeriesRequest(range), {
    ok: true,
    value: { ...report.value, interval: 'DAY' },
  })
  assert.deepEqual(faults({ interval: 'MONTH' }), [])
  assert.deepEqual(faults({ interval: 'QUARTER' }), ['/interval must be one of: DAY, WEEK, MONTH'])
})

test('sums are filtered by ids too, given as numbers or text, and the report of the interface is not', () => {
  const filters = [{ field: 'CAMPAIGN_ID', values: [1001, '7', { value: -3 }] }]
  const parsed = parseSeriesRequest({ ...range, filters })
  assert.ok(parsed.ok)

  assert.deepEqual(parsed.value.filters, [{ field: 'CAMPAIGN_ID', values: ['1001', '7', '-3'] }])
  assert.equal(parseReportRequest({ ...range, filters }).ok, false)
})

test('a value that is no id is refused by its place, in each of the fields of ids', () => {
  for (const field of ['CAMPAIGN_ID', 'AD_GROUP_ID', 'PUBLISHER_ID']) {
    for (const value of ['spring', '1.5', 2 ** 31, '01', ' 1', 1e21]) {
      assert.deepEqual(faults({ filters: [{ field, values: [5, value] }] }), [
        '/filters/0/values/1 must be an id: a whole number of 32 bits',
      ])
    }
    assert.deepEqual(faults({ filters: [{ field, values: [''] }] }), [
      '/filters/0/values/0 must not be empty or blank; leave the filter out to filter nothing',
    ])
  }
})
