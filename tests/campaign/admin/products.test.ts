import assert from 'node:assert/strict'
import { request } from 'node:http'
import { after, before, beforeEach, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { limits } from '../../../src/campaign/admin/feed/product-feed.ts'
import { ServiceError } from '../../../src/errors.ts'
import type { FeedResult, ProductPage } from '../../../src/contract/products.ts'
import { adminKey, bearer, bundle, startAdmin, type AdminHarness } from './harness.ts'

let admin: AdminHarness
let url: string

before(async () => {
  admin = await startAdmin()
  await admin.catalog.apply(bundle as Parameters<typeof admin.catalog.apply>[0])
  url = await admin.app.listen({ port: 0, host: '127.0.0.1' })
})
after(() => admin.close())
beforeEach(() => admin.warehouse.command('TRUNCATE TABLE product'))

async function put(feed: string | Buffer, query = '', market: number | string = 1) {
  const response = await fetch(`${url}/admin/v1/markets/${market}/products${query}`, {
    method: 'PUT',
    headers: bearer(adminKey),
    body: feed,
  })
  const body = (await response.json()) as FeedResult & { messages?: readonly string[] }
  return { status: response.status, ...body }
}

async function list(query = '', market: number | string = 1) {
  const response = await admin.app.inject({
    url: `/admin/v1/markets/${market}/products${query}`,
    headers: bearer(adminKey),
  })
  return { status: response.statusCode, ...response.json<ProductPage>() }
}

const whole = { status: 200, repeated: 0, refused: [], refusedCount: 0 }

const forms: readonly (readonly [name: string, feed: string])[] = [
  ['TSV as Google writes it', 'id\ttitle\tgtin\tbrand\titem_group_id\n1\tTea\t40\tAcme\tG\n'],
  [
    'TSV of a spreadsheet, with a byte order mark and blank lines',
    '\ufeffID\tTitle\tGTIN\tBrand\tItem Group ID\r\n\r\n1\t"Tea"\t 40 \tAcme\tG\r\n\r\n',
  ],
  ['CSV', 'gtin,title,brand,item_group_id,price\n40,Tea,Acme,G,"1,99"'],
  [
    'CSV with quoted names and semicolons',
    '"Item group id";" gtin ";"BRAND";"title"\n"G";"40";"Acme";"Tea"\n',
  ],
  [
    'CSV of Excel that names its separator, whatever else is in the header',
    '\ufeffsep=;\r\ngtin;title;brand;item_group_id;a,b,c,d,e,f\r\n40;Tea;Acme;G;x\r\n',
  ],
]
for (const [name, feed] of forms) {
  test(`a feed is read: ${name}`, async () => {
    assert.deepEqual(await put(feed), { ...whole, taken: 1 })
    assert.deepEqual((await list()).entries, [
      { marketId: 1, gtin: '40', title: 'Tea', brand: 'Acme', groupId: 'G' },
    ])
  })
}

test('a feed needs no more than GTIN and title, and keeps every character of a title', async () => {
  const title = '=Kaffee "ö" 😀, 19" & <b>\u202e'

  await put(`gtin\ttitle\nsku-1\t${title}\n`)

  assert.deepEqual((await list()).entries, [{ marketId: 1, gtin: 'sku-1', title }])
})

test('rows that break a rule are refused by line and reason, and the others are taken', async () => {
  const rows: readonly (readonly [row: string, message: RegExp | null])[] = [
    ['1\tgood\tb\tg', null],
    ['\ttitle\tb\tg', /^\/gtin is required$/],
    [' \u00a0 \ttitle\tb\tg', /^\/gtin is required$/],
    [`${'9'.repeat(60)}\tgood\tb\tg`, null],
    [`${'9'.repeat(61)}\tt\tb\tg`, /^\/gtin must have at most 60 characters$/],
    ['2\t \tb\tg', /^\/title is required$/],
    [`3\t${'😀'.repeat(500)}\tb\tg`, null],
    [`4\t${'😀'.repeat(501)}\tb\tg`, /^\/title must have at most 500 characters$/],
    [`5\tt\t${'b'.repeat(129)}\tg`, /^\/brand must have at most 128 characters$/],
    [`6\tt\tb\t${'g'.repeat(61)}`, /^\/item_group_id must have at most 60 characters$/],
    ['7\tt\u0000\tb\tg', /^\/title must be text without/],
    ['8\tt\tb', /^the row must have 4 columns, as the header has; it has 3$/],
    ['9\tt\tb\tg\t', /it has 5$/],
    ['4.00638E+12\tt\tb\tg', /^\/gtin must be written out: a spreadsheet has rounded it$/],
    ['4E+12\tt\tb\tg', /^\/gtin must be written out/],
    ['4,00638e12\tt\tb\tg', /^\/gtin must be written out/],
    ['#N/A\tt\tb\tg', /^\/gtin must be a code: a spreadsheet has written an error$/],
    ['########\tt\tb\tg', /^\/gtin must be a code: a spreadsheet/],
    ['#BEZUG!\tt\tb\tg', /^\/gtin must be a code: a spreadsheet/],
    ['NULL\tt\tb\tg', /^\/gtin must be a code: it is a placeholder$/],
    ['undefined\tt\tb\tg', /^\/gtin must be a code: it is a placeholder$/],
    [
      '12\tt\tb\t4.00638E+12',
      /^\/item_group_id must be written out: a spreadsheet has rounded it$/,
    ],
    ['13\tt\tb\t#REF!', /^\/item_group_id must be a code: a spreadsheet/],
    [`="${'"'.repeat(500_000)}x\tt\tb\tg`, /^\/gtin must have at most 60 characters$/],
    ['#14\tgood\tb\tnull', null],
    ['12E5\tgood\tb\t12E5', null],
    [`10\t${'x'.repeat(1_048_577)}\tb\tg`, /^the row must have at most 1048576 bytes$/],
    ['11\tgood\t\t', null],
  ]

  const result = await put(
    `gtin\ttitle\tbrand\titem_group_id\n${rows.map(([row]) => row).join('\n')}`
  )

  const expected = rows.flatMap(([, message], index) =>
    message === null ? [] : [{ line: index + 2, message }]
  )
  assert.equal(result.taken, rows.length - expected.length)
  assert.equal(result.refusedCount, expected.length)
  assert.deepEqual(
    result.refused.map(({ line }) => line),
    expected.map(({ line }) => line)
  )
  for (const [index, { message }] of expected.entries()) {
    assert.match(result.refused[index]?.messages.join() ?? '', message)
  }
})

test('bytes that are no UTF-8, lone surrogates among them, refuse their row only', async () => {
  const rows = [Buffer.from('1\tCaf\xe9\n', 'latin1'), Buffer.from('2\t\xed\xa0\x80\n', 'latin1')]

  const result = await put(
    Buffer.concat([Buffer.from('gtin\ttitle\n'), ...rows, Buffer.from('3\tc')])
  )

  assert.equal(result.taken, 1)
  assert.deepEqual(
    result.refused.map(({ line, messages }) => [line, messages]),
    [2, 3].map((line) => [line, ['the row must be valid UTF-8']])
  )
})

test('refused rows beyond a thousand are counted, not listed', async () => {
  const result = await put(`gtin\ttitle\n${'\tx\n'.repeat(limits.refusedMax + 5)}`)

  assert.equal(result.refused.length, limits.refusedMax)
  assert.equal(result.refusedCount, limits.refusedMax + 5)
})

test('an answer never repeats what a row held', async () => {
  const result = await put('gtin\ttitle\nCANARY\t\n1\tCANARY\tCANARY\n')

  assert.ok(!JSON.stringify(result).includes('CANARY'))
})

const headers: readonly (readonly [feed: string | Buffer, message: RegExp])[] = [
  ['4006381333931\tTea\n', /has no column gtin.*has no column title/],
  ['id\ttitle\n1\tTea\n', /has no column gtin\./],
  ['sep=;\n', /has one line alone/],
  ['gtin,name\n1,Tea\n', /has no column title\./],
  ['gtin\ttitle\tGTIN\n', /names the column gtin twice/],
  ['"gtin,title\n1,Tea\n', /A quote of it does not close/],
  [Buffer.from('\ufeffgtin\ttitle\n', 'utf16le'), /must be in UTF-8/],
  [`gtin\ttitle\t${'x'.repeat(1_048_577)}\n`, /too long/],
]
test('a feed without a header that names GTIN and title is refused, naming what is missing', async () => {
  for (const [feed, message] of headers) {
    const { status, messages } = await put(feed)
    assert.equal(status, 422)
    assert.match(messages?.join(' ') ?? '', message)
  }
  assert.deepEqual((await list()).entries, [])
})

test('an empty feed takes nothing', async () => {
  for (const feed of ['', '\ufeff', '\n \r\n']) {
    assert.deepEqual(await put(feed), { ...whole, taken: 0 })
  }
})

test('a feed of one line is refused, as its line ends may have been lost', async () => {
  for (const feed of [
    'gtin\ttitle',
    'gtin,title\n',
    'gtin,title\n\n \n',
    'id,title,brand,gtin,priceA-1,Coffee,Acme,4006381333931,1 EURA-2,Tea,Acme,4006381333948,1 EUR',
  ]) {
    const { status, messages } = await put(feed)
    assert.equal(status, 422, feed)
    assert.match(messages?.join(' ') ?? '', /line ends were lost/u)
  }
})

test('a feed with the line ends of old Macs is read, and its faults are told by line', async () => {
  const result = await put(
    'gtin,title,brand\r4006381333931,Coffee,Acme\r1,,Acme\r4006381333948,Tea,Acme'
  )

  assert.deepEqual([result.status, result.taken], [200, 2])
  assert.deepEqual(
    result.refused.map(({ line }) => line),
    [3]
  )
  assert.deepEqual(
    (await list()).entries.map(({ title }) => title),
    ['Coffee', 'Tea']
  )
})

test('replace never deactivates a product whose code a spreadsheet has spoiled', async () => {
  await put('gtin\ttitle\n4006381333931\tA\n4006381333948\tB\n4006381333955\tC\n')

  for (const code of [
    '="4006381333931"',
    "'4006381333931",
    '4006381333931.0',
    '4.00638133393E+12',
    '4E+12',
    '#N/A',
    'NULL',
    '4,006,381,333,931',
    '\u200b4006381333931',
  ]) {
    await put(`gtin\ttitle\n${code}\tA\n4006381333948\tB\n4006381333955\tC\n`, '?replace=true')
    const inactive = (await list()).entries.filter(({ active }) => active === false)
    assert.deepEqual(inactive, [], code)
  }
})

test('the group of a product is read without what a spreadsheet put around it, its title as it is', async () => {
  await put(`gtin\ttitle\titem_group_id\n1\t'n Koekje\t'G1\n2\t="Tea"\t="G2"\n`)

  assert.deepEqual(
    (await list()).entries.map(({ title, groupId }) => [title, groupId]),
    [
      ["'n Koekje", 'G1'],
      ['Tea', 'G2'],
    ]
  )
})

test('a market that is not there is not found, whatever the feed', async () => {
  for (const market of [99, 'DE', '01', 2_147_483_648]) {
    assert.equal((await put('gtin\ttitle\n', '', market)).status, 404)
    assert.equal((await list('', market)).status, 404)
  }
})

test('a switch that is neither true nor false is refused before the feed is read', async () => {
  for (const query of ['?dryRun=1', '?replace=', '?dryRun=true&dryRun=false']) {
    assert.equal((await put('gtin\ttitle\n1\tTea\n', query)).status, 422, query)
  }
  assert.deepEqual((await list()).entries, [])
})

test('of rows for the same product the last one wins, within a batch and over many', async () => {
  const rowCount = limits.batchRowsMax * 2 + 10
  const rows = Array.from({ length: rowCount }, (_, index) => `${index % 7}\ttitle ${index}`)

  const result = await put(`gtin\ttitle\n${rows.join('\n')}\n`)

  assert.equal(result.taken, rowCount)
  assert.equal(result.repeated, rowCount - 7)
  const last = Array.from({ length: 7 }, (_, gtin) => {
    const index = rowCount - 1 - ((rowCount - 1 - gtin) % 7)
    return { marketId: 1, gtin: String(gtin), title: `title ${index}` }
  })
  assert.deepEqual((await list()).entries, last)
})

test('spellings of one GTIN are one product, and the later spelling stands', async () => {
  const result = await put('gtin\ttitle\n4006381333931\told\n04006381333931\tnew\n')

  assert.equal(result.repeated, 1)
  assert.deepEqual((await list()).entries, [{ marketId: 1, gtin: '04006381333931', title: 'new' }])
})

test('loading a feed again changes nothing, and its products stay', async () => {
  const feed = 'gtin\ttitle\n1\tA\n2\tB\n'
  const first = await put(feed)
  const listed = await list()

  const again = await put(feed)

  assert.deepEqual(again, first)
  assert.deepEqual(await list(), listed)
})

test('a dry run answers the same and stores nothing', async () => {
  await put('gtin\ttitle\n1\told\n')
  const audits = await admin.audits()

  const result = await put('gtin\ttitle\n1\tnew\n2\tB\n\tC\n', '?dryRun=true&replace=true')

  assert.deepEqual(result, {
    status: 200,
    taken: 2,
    refused: [{ line: 4, messages: ['/gtin is required'] }],
    refusedCount: 1,
    dryRun: true,
  })
  assert.deepEqual((await list()).entries, [{ marketId: 1, gtin: '1', title: 'old' }])
  assert.deepEqual(await admin.audits(), audits)
})

test('replace deactivates what the feed does not name, in this market only, and the next feed brings it back', async () => {
  await admin.catalog.products.write(
    [{ marketId: 2, gtin: '1', title: 'elsewhere' }],
    await admin.catalog.products.nextVersion([2])
  )
  await put('gtin\ttitle\n1\tA\n2\tB\n3\tC\n4006381333931\tD\n')

  // The row without a title names its product all the same.
  const result = await put('gtin\ttitle\n1\tA2\n04006381333931\t\n', '?replace=true')

  assert.equal(result.deactivated, 2)
  assert.deepEqual((await list()).entries, [
    { marketId: 1, gtin: '4006381333931', title: 'D' },
    { marketId: 1, gtin: '1', title: 'A2' },
    { marketId: 1, gtin: '2', title: 'B', active: false },
    { marketId: 1, gtin: '3', title: 'C', active: false },
  ])
  assert.deepEqual((await list('', 2)).entries, [{ marketId: 2, gtin: '1', title: 'elsewhere' }])
  assert.equal((await put('gtin\ttitle\n1\tA\n2\tB\n', '?replace=true')).deactivated, 1)
  assert.deepEqual((await list('?gtin=2')).entries, [{ marketId: 1, gtin: '2', title: 'B' }])
})

test('replace deactivates more products than one statement does', async () => {
  const rows = Array.from({ length: 120_001 }, (_, index) => `${index}\tt\n`)
  await put(`gtin\ttitle\n${rows.join('')}`)

  const result = await put('gtin\ttitle\n5\tt\n', '?replace=true')

  assert.equal(result.deactivated, 120_000)
  const [row] = await admin.warehouse.rows<{ active: string }>(
    'SELECT toString(sum(is_active)) AS active FROM product FINAL'
  )
  assert.equal(row?.active, '1')
})

test('a feed that cannot say what is no longer wanted deactivates nothing, and says why', async () => {
  await put('gtin\ttitle\n1\tA\n')
  const cases: readonly (readonly [feed: string, reason: RegExp])[] = [
    ['', /no row was taken/],
    ['gtin\ttitle\n2\t\n', /no row was taken/],
    ['gtin\ttitle\n2\tB\n3\tC\tD\n', /of 1 refused rows nobody can tell/],
    [
      `gtin\ttitle\n2\tB\n${Array.from({ length: limits.namedMax + 1 }, (_, n) => `x${n}\t\n`).join('')}`,
      /too many/,
    ],
  ]
  for (const [feed, reason] of cases) {
    const result = await put(feed, '?replace=true')
    assert.equal(result.deactivated, 0)
    assert.match(result.notReplaced ?? '', reason)
  }
  assert.deepEqual((await list('?gtin=1')).entries, [{ marketId: 1, gtin: '1', title: 'A' }])
})

test('a feed that breaks off is not answered, keeps what was read, and deactivates nothing', async () => {
  await put('gtin\ttitle\nkept\tK\n')
  const rows = Array.from({ length: limits.batchRowsMax }, (_, index) => `${index}\tt\n`)

  await breakOff(`/admin/v1/markets/1/products?replace=true`, `gtin\ttitle\n${rows.join('')}`)

  const [row] = await admin.warehouse.rows<{ active: string; rows: number }>(
    'SELECT toString(sum(is_active)) AS active, count() AS rows FROM product FINAL'
  )
  assert.deepEqual(row, { active: String(limits.batchRowsMax + 1), rows: limits.batchRowsMax + 1 })
})

/** Sends the start of a body, waits until the whole of it is stored, and cuts the connection. */
async function breakOff(path: string, start: string): Promise<void> {
  const sent = request(`${url}${path}`, { method: 'PUT', headers: bearer(adminKey) })
  const closed = new Promise((resolve) => sent.once('error', resolve))
  sent.once('response', () => assert.fail('a broken feed was answered'))
  sent.write(start)
  const auditCount = (await admin.audits()).length
  for (let stored = 0; stored < limits.batchRowsMax;) {
    const [row] = await admin.warehouse.rows<{ stored: number }>(
      'SELECT count() AS stored FROM product'
    )
    stored = row?.stored ?? 0
  }
  sent.destroy()
  await closed
  while ((await admin.audits()).length === auditCount) continue
}

test('a feed is recorded with its author, its market and its counts', async () => {
  await put('gtin\ttitle\n1\tA\n\tB\n', '?replace=true')

  const audits = await admin.audits()

  const details = JSON.stringify({ replace: true, deactivated: 0 })
  const subject = 'market 1: 1 taken, 1 refused'
  const record = { key_id: 'configured-admin', action: 'products.put', subject, details }
  assert.ok(audits.some((audit) => isDeepStrictEqual(audit, record)))
})

test('a failure of the warehouse is no success', async (t) => {
  const { products } = admin.catalog
  const write = products.write.bind(products)
  t.after(() => Object.assign(products, { write }))
  Object.assign(products, {
    write: () => Promise.reject(new ServiceError('WAREHOUSE_UNAVAILABLE', 'away')),
  })

  const { status } = await put('gtin\ttitle\n1\tA\n')

  assert.equal(status, 503)
})

test('only the scope admin loads and reads products', async () => {
  const key = await admin.keyOf({ scopes: ['report:read', 'events:write'] })
  const at = '/admin/v1/markets/1/products'
  for (const method of ['PUT', 'GET'] as const) {
    const refused = await admin.app.inject({ method, url: at, headers: bearer(key) })
    assert.equal(refused.statusCode, 403)
    assert.equal((await admin.app.inject({ method, url: at })).statusCode, 401)
  }
})

test('the pages of the products are the whole, in one order, without repeats', async () => {
  const rows = Array.from({ length: 25 }, (_, index) => `${(index * 7) % 25}\tT ${index}\n`)
  await put(`gtin\ttitle\n${rows.join('')}`)
  const all = await list('?limit=1000')

  const pages: ProductPage['entries'][number][] = []
  let next: string | null = ''
  while (next !== null) {
    const page: ProductPage = await list(`?limit=4${next === '' ? '' : `&after=${next}`}`)
    assert.ok(page.entries.length <= 4)
    pages.push(...page.entries)
    next = page.next
  }

  assert.equal(all.entries.length, 25)
  assert.equal(all.next, null)
  assert.deepEqual(pages, all.entries)
})

async function gtinsOf(query: string): Promise<readonly string[]> {
  return (await list(query)).entries.map(({ gtin }) => gtin)
}

test('products are found by any spelling of the GTIN and by a part of the title in any case', async () => {
  await put('gtin\ttitle\n4006381333931\tGrüner TEE\n2\t100% Kaffee_\n')

  assert.deepEqual(await gtinsOf('?gtin=%2004006381333931'), ['4006381333931'])
  assert.deepEqual(await gtinsOf('?title=GR%C3%9CNER%20t'), ['4006381333931'])
  assert.deepEqual(await gtinsOf('?title=0%25%20k'), ['2'])
  assert.deepEqual(await gtinsOf('?title=_'), ['2'])
  assert.deepEqual(await gtinsOf('?gtin=2&title=tee'), [])
})

test('a question for products that is out of bounds is refused', async () => {
  for (const query of [
    '?limit=0',
    '?limit=1001',
    '?limit=x',
    '?limit=1&limit=2',
    '?gtin=',
    `?title=${'x'.repeat(501)}`,
    '?title=%00',
    `?after=${'9'.repeat(61)}`,
  ]) {
    assert.equal((await list(query)).status, 422, query)
  }
})
