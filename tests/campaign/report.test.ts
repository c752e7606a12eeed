import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ReportResult } from '../../src/reports/report.ts'
import { aRow, bearer, startHarness } from './harness.ts'

const range = { startDate: '2026-03-01', endDate: '2026-03-31' }
const csvPath = '/v2/advertisers/1/reports/spa/product.csv'
const jsonPath = '/v2/advertisers/1/reports/spa/product.json'

function resultOf(changes: Partial<ReportResult> = {}): () => Promise<ReportResult> {
  const fixed = { totalRows: 0, completeThrough: null, unconvertedCount: 0, rows: [] }
  return () => Promise.resolve({ ...fixed, ...changes })
}

function post(url: string, payload: object | string = range) {
  return { method: 'POST', url, headers: bearer('K1'), payload } as const
}

const columns =
  'GTIN,PRODUCT_TITLE,BRAND,MARKET,PUBLISHER_ID,PUBLISHER_NAME,CAMPAIGN_ID,CAMPAIGN_NAME,' +
  'AD_GROUP_ID,AD_GROUP_NAME,IMPRESSIONS,CLICKS,LOADS,CONVERSIONS,UNITS_SOLD,CLICK_THROUGH_RATE,' +
  'CONVERSION_RATE,CONVERSION_VALUE,AD_SPEND_REVENUE,COST_PER_CLICK,RETURN_ON_AD_SPEND,CURRENCY'

test('the CSV has a header line, one line per row, and says what it is', async (t) => {
  const rows = [aRow(), aRow({ gtin: '2', clickThroughRate: '' })]
  const { app } = startHarness({
    runReport: resultOf({
      rows,
      totalRows: 7,
      completeThrough: '2026-03-30',
      renewingDays: ['2026-03-02', '2026-03-05'],
      unconvertedCount: 3,
    }),
  })
  t.after(() => app.close())

  const { statusCode, headers, body } = await app.inject(post(csvPath))

  assert.equal(statusCode, 200)
  assert.deepEqual(body.split('\r\n'), [
    columns,
    '04006381333931,Coffee,Acme,DE,10,Example Shop,1001,Spring,5001,Banners,10,2,12,1,3,0.200000,0.500000,30.10,0.50,0.250000,60.2000,EUR',
    '2,Coffee,Acme,DE,10,Example Shop,1001,Spring,5001,Banners,10,2,12,1,3,,0.500000,30.10,0.50,0.250000,60.2000,EUR',
    '',
  ])
  assert.equal(headers['content-type'], 'text/csv; charset=utf-8')
  const fileName = 'spa-product-report-advertiser-1-2026-03-01-to-2026-03-31.csv'
  assert.equal(headers['content-disposition'], `attachment; filename="${fileName}"`)
  assert.equal(headers['x-total-rows'], '7')
  assert.equal(headers['x-complete-through'], '2026-03-30')
  assert.equal(headers['x-renewing-days'], '2')
  assert.equal(headers['x-unconverted'], '3')
})

test('what is not known is not said: no complete day, nothing unconverted', async (t) => {
  const { app } = startHarness({ runReport: resultOf() })
  t.after(() => app.close())

  const { headers, body } = await app.inject(post(csvPath))

  assert.equal(body, `${columns}\r\n`)
  assert.equal(headers['x-total-rows'], '0')
  assert.ok(!('x-complete-through' in headers) && !('x-unconverted' in headers))
  assert.ok(!('x-renewing-days' in headers))
})

test('a page names the result it is cut from, and a report of one page has nothing to name', async (t) => {
  const cut = startHarness({ runReport: resultOf({ resultId: 'r1' }) })
  const single = startHarness({ runReport: resultOf() })
  t.after(() => Promise.all([cut.app.close(), single.app.close()]))

  for (const path of [csvPath, jsonPath]) {
    const named = await cut.app.inject(post(path))
    const plain = await single.app.inject(post(path))

    assert.equal(named.headers['x-result-id'], 'r1')
    assert.ok(!('x-result-id' in plain.headers))
  }
})

test('the date stands in the report with dateBreakdown only, and the page in the file name', async (t) => {
  const { app, calls } = startHarness({})
  t.after(() => app.close())

  const { headers, body } = await app.inject(
    post(csvPath, { ...range, dateBreakdown: true, page: 2, limit: 5 })
  )

  assert.match(body, /AD_GROUP_NAME,DATE,IMPRESSIONS/)
  assert.match(String(headers['content-disposition']), /-page-2\.csv"$/)
  assert.equal(calls[0]?.request.page, 2)
  assert.equal(calls[0]?.request.limit, 5)
  assert.equal(calls[0]?.advertiserId, 1)
  assert.equal(calls[0]?.keyId, 'key_1')
})

test('names that a spreadsheet would run are made harmless in the CSV and stay as they are in JSON', async (t) => {
  const campaignName = '=HYPERLINK("http://evil.example","x")'
  const { app } = startHarness({
    runReport: () => resultOf({ rows: [aRow({ campaignName })] })(),
  })
  t.after(() => app.close())

  const csv = await app.inject(post(csvPath))
  const json = await app.inject(post(jsonPath))

  assert.ok(csv.body.includes(`"'=HYPERLINK(""http://evil.example"",""x"")"`))
  assert.equal(
    json.json<{ rows: { CAMPAIGN_NAME: string }[] }>().rows[0]?.CAMPAIGN_NAME,
    campaignName
  )
})

test('a locale changes the header alone', async (t) => {
  const { app } = startHarness({ runReport: () => resultOf({ rows: [aRow()] })() })
  t.after(() => app.close())
  const plain = await app.inject(post(csvPath))
  for (const locale of ['de', 'de-DE', 'de_DE', 'fr-FR', 'xx-XX', 'zh_CN', 'en-US-u-nu-thai']) {
    const { statusCode, body } = await app.inject(post(`${csvPath}?locale=${locale}`))
    assert.equal(statusCode, 200, locale)
    assert.notEqual(body.split('\r\n')[0], columns)
    assert.equal(body.split('\r\n')[1], plain.body.split('\r\n')[1])
    assert.notEqual(body.charCodeAt(0), 0xfeff)
  }
})

const malformed: readonly (readonly [url: string, payload: object | string, message: RegExp])[] = [
  [`${csvPath}?locale=`, range, /^locale must/],
  [`${csvPath}?locale=../../etc/passwd`, range, /^locale must/],
  [`${csvPath}?locale=de-DE,en;q=0.5`, range, /^locale must/],
  [`${csvPath}?locale=${'a'.repeat(999)}`, range, /^locale must/],
  [`${csvPath}?locale=de&locale=fr`, range, /^locale must be given once/],
  [csvPath, '', /must not be empty/],
  [csvPath, '{', /must be valid JSON/],
  [csvPath, '[]', /must be object/],
  [csvPath, 'null', /must be object/],
  [csvPath, {}, /startDate is required/],
  [csvPath, { ...range, startDate: '2026-02-30' }, /startDate must be a date/],
  [csvPath, { ...range, startDate: '2026-04-01' }, /startDate must not be after/],
  [csvPath, { startDate: '1000-01-01', endDate: '9999-12-31' }, /at most 731 days/],
  [csvPath, { ...range, page: null }, /page must be integer/],
  [csvPath, { ...range, page: 1001 }, /page must be at most 1000/],
  [csvPath, { ...range, page: 1e308 }, /page must be/],
  [csvPath, { ...range, limit: 0 }, /limit must be at least 1/],
  [csvPath, { ...range, limit: '5' }, /limit must be integer/],
  [csvPath, { ...range, orderBy: 'constructor' }, /orderBy must be one of/],
  [csvPath, { ...range, orderBy: 'DATE' }, /orderBy must not be DATE/],
  [csvPath, { ...range, dateBreakdown: 'week' }, /dateBreakdown must be boolean/],
]
test('a request that breaks a rule is answered 422 with the rule, by both operations', async (t) => {
  const { app, calls } = startHarness()
  t.after(() => app.close())
  for (const [url, payload, message] of malformed) {
    for (const path of [url, url.replace('.csv', '.json')]) {
      const response = await app.inject(post(path, payload))
      const name = `${path.slice(0, 90)} ${JSON.stringify(payload)}`
      assert.equal(response.statusCode, 422, name)
      const { messages } = response.json<{ messages: string[] }>()
      assert.match(messages[0] ?? '', message, name)
    }
  }
  assert.equal(calls.length, 0)
})

test('faults of the locale and of the body are told together', async (t) => {
  const { app } = startHarness()
  t.after(() => app.close())

  const response = await app.inject(post(`${csvPath}?locale=!`, {}))

  assert.equal(response.json<{ messages: string[] }>().messages.length, 3)
})

test('any content type is taken, and what does not parse is told so', async (t) => {
  const { app } = startHarness()
  t.after(() => app.close())
  const types = [
    'application/json; charset="utf-8"; v=1',
    'Application/JSON',
    'text/plain',
    'a b',
    '',
  ]
  for (const type of types) {
    const headers = { ...bearer('K1'), ...(type !== '' && { 'content-type': type }) }
    const payload = Buffer.from(JSON.stringify(range))
    const response = await app.inject({ method: 'POST', url: csvPath, headers, payload })
    assert.equal(response.statusCode, 200, type)
  }
})

test('the JSON has the rows as in the CSV, null over zero, and exact totals by currency', async (t) => {
  const rows = [
    aRow({ costPerClick: '', clicks: '0' }),
    aRow({ conversionValue: '0.004000000', adSpendRevenue: '0.500000001', gtin: '2' }),
    aRow({
      currency: 'JPY',
      conversionValue: '100',
      adSpendRevenue: '0',
      clicks: '0',
      impressions: '0',
    }),
  ]
  const { app } = startHarness({ runReport: resultOf({ rows, totalRows: 3 }) })
  t.after(() => app.close())

  const response = await app.inject(post(jsonPath, { ...range, limit: 100 }))

  const report = response.json<{ rows: Record<string, unknown>[] } & Record<string, unknown>>()
  assert.equal(response.headers['x-total-rows'], '3')
  assert.equal(report.rows[0]?.['COST_PER_CLICK'], null)
  assert.equal(report.rows[1]?.['CONVERSION_VALUE'], '0.004000000')
  assert.ok(!Object.keys(report.rows[0] ?? {}).some((name) => name.endsWith('_EXACT')))
  assert.equal(report.rows[0]?.['GTIN'], '04006381333931')
  assert.ok(!('DATE' in (report.rows[0] ?? {})))
  assert.deepEqual(report['totals'], [
    {
      IMPRESSIONS: '20',
      CLICKS: '2',
      LOADS: '24',
      CONVERSIONS: '2',
      UNITS_SOLD: '6',
      CLICK_THROUGH_RATE: '0.100000',
      CONVERSION_RATE: '1.000000',
      CONVERSION_VALUE: '30.104000000',
      AD_SPEND_REVENUE: '1.000000001',
      COST_PER_CLICK: '0.500000',
      RETURN_ON_AD_SPEND: '30.1040',
      CURRENCY: 'EUR',
    },
    {
      IMPRESSIONS: '0',
      CLICKS: '0',
      LOADS: '12',
      CONVERSIONS: '1',
      UNITS_SOLD: '3',
      CLICK_THROUGH_RATE: null,
      CONVERSION_RATE: null,
      CONVERSION_VALUE: '100',
      AD_SPEND_REVENUE: '0',
      COST_PER_CLICK: null,
      RETURN_ON_AD_SPEND: null,
      CURRENCY: 'JPY',
    },
  ])
  assert.equal(report['page'], 0)
  assert.equal(report['limit'], 100)
  assert.equal(report['totalRows'], 3)
})

test('an advertiser that is no longer active keeps its reports', async (t) => {
  const { app } = startHarness()
  t.after(() => app.close())

  const url = csvPath.replace('/1/', '/3/')
  const response = await app.inject({ ...post(url), headers: bearer('all') })

  assert.equal(response.statusCode, 200)
})
