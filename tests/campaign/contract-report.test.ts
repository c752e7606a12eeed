// The answers of the report download, by its rules. What stands in the rows has tests of its own.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { orderByColumns } from '../../src/contract/report-request.ts'
import { assertRefused, openContractPort, type Reply, type Sending } from './contract-port.ts'

const port = await openContractPort()
after(() => port.close())

const body = { startDate: '2026-03-01', endDate: '2026-03-31' }
const columns = orderByColumns.filter((column) => column !== 'DATE')
// The order in which the interface lists them; the currency behind.
const header = `${columns.join(',')},CURRENCY\r\n`
const datedHeader = `${orderByColumns.join(',')},CURRENCY\r\n`

async function post(sent: unknown, query = '', rest: Partial<Sending> = {}): Promise<Reply> {
  const path = `/v2/advertisers/1/reports/spa/product.csv${query}`
  return await port.send({ method: 'POST', path, body: sent, ...rest })
}

test('a report is a CSV file with a telling name that no cache keeps', async () => {
  const reply = await post(body)

  assert.deepEqual([reply.status, reply.text], [200, header])
  assert.equal(reply.headers['content-type'], 'text/csv; charset=utf-8')
  const name = 'spa-product-report-advertiser-1-2026-03-01-to-2026-03-31.csv'
  assert.equal(reply.headers['content-disposition'], `attachment; filename="${name}"`)
  assert.equal(reply.headers['x-total-rows'], '0')
  assert.equal(reply.headers['cache-control'], 'no-store')
  assert.equal(reply.headers['x-content-type-options'], 'nosniff')
})

const values = (count: number) => Array.from({ length: count }, (_, index) => `v${index}`)
const filters = (count: number) =>
  Array.from({ length: count }, () => ({ field: 'BRAND', values: ['x'] }))

const taken: readonly (readonly [name: string, fields: object, head?: string])[] = [
  ['a range of one day', { endDate: '2026-03-01' }],
  ['a range of 731 days', { startDate: '2024-03-01', endDate: '2026-03-01' }],
  ['a leap day', { startDate: '2024-02-29', endDate: '2024-02-29' }],
  ['the first day there is', { startDate: '0001-01-01', endDate: '0001-01-01' }],
  ['the last day there is', { startDate: '9999-12-31', endDate: '9999-12-31' }],
  ['days before the engine counts them', { startDate: '1969-12-31', endDate: '1970-01-01' }],
  ['days after the engine counts them', { startDate: '2149-06-06', endDate: '2149-06-07' }],
  ['a range into the first year of events', { startDate: '2018-06-01', endDate: '2020-01-01' }],
  ['a range out of the last year of events', { startDate: '2100-12-31', endDate: '2102-06-01' }],
  ['the least page', { page: 0 }],
  ['the greatest page', { page: 1_000 }],
  ['the least limit', { limit: 1 }],
  ['the greatest limit', { limit: 10_000 }],
  ['the greatest page of the greatest limit', { page: 1_000, limit: 10_000 }],
  ['ASC', { sortType: 'ASC' }],
  ['DESC', { sortType: 'DESC' }],
  ['no breakdown', { dateBreakdown: false }],
  ['a breakdown', { dateBreakdown: true }, datedHeader],
  ['IMP_1_DAY_CLK_14_DAYS', { attributionProfile: 'IMP_1_DAY_CLK_14_DAYS' }],
  ['IMP_1_DAY', { attributionProfile: 'IMP_1_DAY' }],
  ['CLK_14_DAYS', { attributionProfile: 'CLK_14_DAYS' }],
  ['no filters', { filters: [] }],
  ['a filter without values', { filters: [{ field: 'GTIN', values: [] }] }],
  ['values of every shape', { filters: [{ field: 'GTIN', values: ['1', 2, { value: 3 }] }] }],
  [
    'every field at once',
    {
      filters: ['GTIN', 'PRODUCT_TITLE', 'BRAND', 'MARKET'].map((field) => ({
        field,
        values: ["'; DROP TABLE x --", '%', '_', '\\', '{a:String}', 1e308, -0],
      })),
    },
  ],
  ['100 filters', { filters: filters(100) }],
  ['10,000 values', { filters: [{ field: 'GTIN', values: values(10_000) }] }],
]
for (const [name, fields, head = header] of taken) {
  test(`200: ${name}`, async () => {
    const reply = await post({ ...body, ...fields })
    assert.deepEqual([reply.status, reply.text], [200, head])
  })
}

test('every column of the interface can order a report', async () => {
  for (const orderBy of orderByColumns) {
    const reply = await post({ ...body, dateBreakdown: true, orderBy })
    assert.deepEqual([reply.status, reply.text], [200, datedHeader], orderBy)
  }
})

test('a locale changes the labels and not the number of columns, and any well-formed one is taken', async () => {
  for (const locale of ['de', 'de-DE', 'de_DE', 'DE-de', 'en-GB', 'ja', 'tlh', 'zh-Hant-TW']) {
    const reply = await post(body, `?locale=${locale}&x=1`)
    assert.equal(reply.status, 200, locale)
    assert.equal(reply.text.split(',').length, columns.length + 1, locale)
    assert.notEqual(reply.text, header, locale)
  }
})

test('headers of content and of acceptance decide nothing', async () => {
  for (const headers of [
    { 'content-type': 'application/json;charset=UTF-8', accept: 'application/json' },
    { 'content-type': 'text/plain', accept: 'image/png' },
    { 'content-type': '', accept: 'text/csv;q=0' },
  ]) {
    assert.equal((await post(body, '', { headers })).status, 200)
  }
})

const dateRule = (field: string) => `/${field} must be a date such as 2026-03-01`
const noDates = [
  '|2026-02-29|2026-02-30|2026-13-01|2026-00-10|2026-01-00|2026-1-1|20260301|2026-03-01T00:00:00Z',
  "2026-03-01 | 2026-03-01|01.03.2026|today|12026-03-01|-2026-03-01|2026-03-٠١|2026-03-01' OR 1=1",
].flatMap((texts) => texts.split('|'))
const pageHigh = '/page must be at most 1000'
const valueRule = 'must be a string, a finite number, or an object whose value is one'
const orderRule = `/orderBy must be one of: ${orderByColumns.join(', ')}`
const fieldRule = '/filters/0/field must be one of: GTIN, PRODUCT_TITLE, BRAND, MARKET'
const profileRule =
  '/attributionProfile must be one of: IMP_1_DAY_CLK_14_DAYS, IMP_1_DAY, CLK_14_DAYS'

type Refusal = readonly [name: string, fields: object, messages: readonly string[]]
const refused: readonly Refusal[] = [
  ['no start', { startDate: undefined }, ['/startDate is required']],
  ['no end', { endDate: undefined }, ['/endDate is required']],
  ['a start of null', { startDate: null }, ['/startDate must be string']],
  ['an end as a number', { endDate: 20_260_331 }, ['/endDate must be string']],
  ...noDates.map((date): Refusal => [
    `start ${date}`,
    { startDate: date },
    [dateRule('startDate')],
  ]),
  ...noDates.map((date): Refusal => [`end ${date}`, { endDate: date }, [dateRule('endDate')]]),
  ['an end before the start', { endDate: '2026-02-28' }, ['/startDate must not be after /endDate']],
  [
    'a range of 732 days',
    { startDate: '2024-03-01', endDate: '2026-03-02' },
    ['/endDate must be at most 731 days from /startDate, both included'],
  ],
  ['page -1', { page: -1 }, ['/page must be at least 0']],
  ['page 1001', { page: 1_001 }, [pageHigh]],
  ['page beyond int32', { page: 2 ** 31 }, [pageHigh]],
  ['half a page', { page: 0.5 }, ['/page must be integer']],
  ['a page of null', { page: null }, ['/page must be integer']],
  ['a page as text', { page: '0' }, ['/page must be integer']],
  ['limit 0', { limit: 0 }, ['/limit must be at least 1']],
  ['limit -1', { limit: -1 }, ['/limit must be at least 1']],
  ['limit 10001', { limit: 10_001 }, ['/limit must be at most 10000']],
  ['half a limit', { limit: 1.5 }, ['/limit must be integer']],
  ['a limit of null', { limit: null }, ['/limit must be integer']],
  ['a limit of true', { limit: true }, ['/limit must be integer']],
  ['sortType asc', { sortType: 'asc' }, ['/sortType must be one of: ASC, DESC']],
  ['sortType null', { sortType: null }, ['/sortType must be one of: ASC, DESC']],
  ['dateBreakdown as text', { dateBreakdown: 'true' }, ['/dateBreakdown must be boolean']],
  ['dateBreakdown 1', { dateBreakdown: 1 }, ['/dateBreakdown must be boolean']],
  ['orderBy gtin', { orderBy: 'gtin' }, [orderRule]],
  ['orderBy CURRENCY', { orderBy: 'CURRENCY' }, [orderRule]],
  ['orderBy with SQL', { orderBy: 'GTIN; DROP TABLE x' }, [orderRule]],
  ['orderBy toString', { orderBy: 'toString' }, [orderRule]],
  [
    'orderBy DATE alone',
    { orderBy: 'DATE' },
    ['/orderBy must not be DATE unless /dateBreakdown is true'],
  ],
  ['another profile', { attributionProfile: 'IMP_7_DAYS' }, [profileRule]],
  ['an empty profile', { attributionProfile: '' }, [profileRule]],
  ['filters as an object', { filters: {} }, ['/filters must be array']],
  ['filters of null', { filters: null }, ['/filters must be array']],
  ['a filter of text', { filters: ['x'] }, ['/filters/0 must be object']],
  ['a filter of another field', { filters: [{ field: 'DATE', values: [] }] }, [fieldRule]],
  [
    'an empty filter',
    { filters: [{}] },
    ['/filters/0/field is required', '/filters/0/values is required'],
  ],
  [
    'values as text',
    { filters: [{ field: 'GTIN', values: '1' }] },
    ['/filters/0/values must be array'],
  ],
  ...[null, true, {}, { value: null }, { value: {} }, ['1'], { value: ['1'] }].map(
    (value): Refusal => [
      `value ${JSON.stringify(value)}`,
      { filters: [{ field: 'GTIN', values: ['1', value] }] },
      [`/filters/0/values/1 ${valueRule}`],
    ]
  ),
  [
    'a value that is no text',
    { filters: [{ field: 'BRAND', values: ['\0', '\ud800'] }] },
    [0, 1].map((at) => `/filters/0/values/${at} must be text without lone surrogates or U+0000`),
  ],
  ['101 filters', { filters: filters(101) }, ['/filters must have at most 100 items']],
  [
    '10,001 values',
    {
      filters: [
        { field: 'GTIN', values: values(5_000) },
        { field: 'GTIN', values: values(5_001) },
      ],
    },
    ['/filters must have at most 10000 values together'],
  ],
  [
    'faults of several fields',
    { page: -1, limit: 0, orderBy: 'x' },
    ['/page must be at least 0', '/limit must be at least 1', orderRule],
  ],
  [
    'faults of meaning',
    { endDate: '2026-01-01', orderBy: 'DATE' },
    [
      '/startDate must not be after /endDate',
      '/orderBy must not be DATE unless /dateBreakdown is true',
    ],
  ],
]
for (const [name, fields, messages] of refused) {
  test(`422: ${name}`, async () => {
    assertRefused(await post({ ...body, ...fields }), 422, messages)
  })
}

const broken: readonly (readonly [name: string, sent: unknown, messages: readonly string[]])[] = [
  ['no body', undefined, ['body must not be empty']],
  ['an empty body', '', ['body must not be empty']],
  ['a byte order mark alone', '\uFEFF', ['body must not be empty']],
  ['half a body', '{"page":1', ['body must be valid JSON, broken at position 9']],
  ['bytes that are no UTF-8', Buffer.from([0x22, 0xc3, 0x28, 0x22]), ['body must be valid UTF-8']],
  ['null', 'null', ['body must be object']],
  ['a list', '[]', ['body must be object']],
  ['a deep list', '['.repeat(500_000), ['body must be valid JSON']],
  ['a number', '0', ['body must be object']],
  ['nothing', '{}', ['/startDate is required', '/endDate is required']],
]
for (const [name, sent, messages] of broken) {
  test(`422: ${name}`, async () => {
    assertRefused(await post(sent), 422, messages)
  })
}

const localeRule = 'locale must be a language tag such as "de" or "de-DE"'
const locales: readonly (readonly [query: string, message: string])[] = [
  ...['', '-', 'd', 'de-', 'de--DE', 'de DE', '%00', '../x', 'de;q=1', '*', 'x'.repeat(101)].map(
    (text) => [`?locale=${encodeURI(text).replace('%2500', '%00')}`, localeRule] as const
  ),
  ['?locale=de&locale=de', 'locale must be given once'],
]
for (const [query, message] of locales) {
  test(`422: ${query.slice(0, 40)}, and what is wrong in the body with it`, async () => {
    assertRefused(await post(body, query), 422, [message])
    assertRefused(await post({ ...body, page: -1 }, query), 422, [
      message,
      '/page must be at least 0',
    ])
  })
}

test('the same body at the address for JSON meets the same rules', async () => {
  const path = '/v2/advertisers/1/reports/spa/product.json'
  for (const [, fields, messages] of refused) {
    const reply = await post({ ...body, ...fields }, '', { path })
    assertRefused(reply, 422, messages)
  }
  assert.equal((await post(body, '', { path })).status, 200)
})
