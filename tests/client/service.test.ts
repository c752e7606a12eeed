// Against the service as it runs: several processes, the real spool, the real warehouse.
import assert from 'node:assert/strict'
import { before, after, test } from 'node:test'
import {
  createCampaignClient,
  createPublisherClient,
  type CampaignClient,
  type Conversion,
  type ReportRow,
} from '../../src/client/client.ts'
import { eventually, prepareService, type Service } from '../helpers/service.ts'
import { aBundle, anAsset } from '../helpers/bundle.ts'
import { browser } from '../helpers/shoppers.ts'
import { placement } from '../helpers/placement.ts'

const assetId = anAsset().id
const adCount = 25

const catalog = {
  ...aBundle(),
  products: Array.from({ length: adCount }, (_, index) => ({
    marketId: 1,
    gtin: `SKU-${String(index).padStart(3, '0')}`,
    title: index === 0 ? '=Coffee, "1 kg"\r\nground' : `Product ${index}`,
    brand: 'Acme',
  })),
}

const range = { startDate: dayFromNow(-1), endDate: dayFromNow(1) }

function dayFromNow(offset: number): string {
  return new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10)
}

let service: Service
let campaign: CampaignClient
const cleanups: (() => Promise<void>)[] = []

async function admin<T>(method: string, path: string, body: unknown): Promise<T> {
  const response = await service.admin(method, path, body)
  assert.ok(response.ok, `${path}: ${response.status}`)
  return (await response.json()) as T
}

async function collect(stream: AsyncIterable<ReportRow>): Promise<ReportRow[]> {
  const rows: ReportRow[] = []
  for await (const row of stream) rows.push(row)
  return rows
}

function purchase(index: number): Conversion {
  return {
    user_id: `shopper-${index}`,
    transaction_id: `order-${index}`,
    site_id: 101,
    publisher_id: 10,
    currency: 'EUR',
    products: [{ gtin: `SKU-${String(index).padStart(3, '0')}`, price: 19.99, quantity: 3 }],
  }
}

// One click per product, and then one purchase.
before(async () => {
  service = await prepareService({ after: (cleanup) => cleanups.push(cleanup) })
  await service.start()
  await admin('PUT', '/admin/v1/catalog', catalog)
  const { key } = await admin<{ key: string }>('POST', '/admin/v1/keys', {
    name: 'Acme',
    advertisers: [1],
    scopes: ['report:read', 'asset:write', 'site:read'],
  })
  campaign = createCampaignClient({ url: service.campaignUrl, key })
  const { links } = await admin<{ links: { clickUrl: string }[] }>(
    'POST',
    '/admin/v1/tracking-links',
    {
      links: catalog.products.map(({ gtin }, index) =>
        Object.assign({ gtin, userId: `shopper-${index}`, costPerClick: '0.25' }, placement)
      ),
    }
  )
  for (const { clickUrl } of links) {
    const { status } = await fetch(clickUrl, { method: 'POST', headers: { 'user-agent': browser } })
    assert.equal(status, 200)
  }
  const publisher = createPublisherClient({ url: service.trackingUrl })
  for (let index = 0; index < adCount; index += 1) await publisher.sendConversion(purchase(index))
  // Again, as a retry would.
  await publisher.sendConversion(purchase(0))
  await eventually('all purchases are in the report', async () => {
    const rows = await collect(campaign.report(1, range))
    return rows.filter(({ CONVERSIONS }) => CONVERSIONS === '1').length === adCount
  })
})

after(async () => {
  for (const cleanup of cleanups) await cleanup()
})

test('what was sent comes out once, page by page the same as at once, and the same as in CSV and JSON', async () => {
  const whole = await collect(campaign.report(1, { ...range, orderBy: 'GTIN' }))
  const heads: number[] = []
  const paged = await collect(
    campaign.report(
      1,
      { ...range, orderBy: 'GTIN', limit: 4 },
      { onHead: ({ totalRows }) => heads.push(totalRows) }
    )
  )
  const csv = await campaign.reportCsv(1, { ...range, orderBy: 'GTIN' })
  const text = Buffer.concat(await csv.body.toArray()).toString()
  const json = await campaign.reportJson(1, { ...range, orderBy: 'GTIN' })

  assert.equal(whole.length, adCount)
  assert.deepEqual(paged, whole)
  assert.deepEqual(heads, [adCount])
  const [first, second] = whole
  // As in the file, with the apostrophe that keeps a spreadsheet from running it.
  assert.equal(first?.PRODUCT_TITLE, `'=Coffee, "1 kg"\r\nground`)
  assert.equal(second?.CONVERSION_VALUE, '59.97')
  assert.equal(second?.AD_SPEND_REVENUE, '0.25')
  assert.equal(second?.CLICK_THROUGH_RATE, '')
  assert.equal(text.split(/\r\n(?=SKU)/).length, adCount + 1)
  assert.match(csv.fileName ?? '', /^spa-product-report-advertiser-1-.*\.csv$/)
  assert.equal(json.totalRows, adCount)
  assert.equal(json.rows[0]?.['PRODUCT_TITLE'], '=Coffee, "1 kg"\r\nground')
  assert.equal(json.totals[0]?.['UNITS_SOLD'], String(3 * adCount))
})

test('groups and sums by month are read whole, and add up to the report', async () => {
  const json = await campaign.reportJson(1, range)
  const groups = await campaign.groupsJson(1, { ...range, groupBy: ['BRAND', 'PUBLISHER'] })
  const series = await campaign.seriesJson(1, { ...range, interval: 'MONTH' })
  const [total] = groups.totals

  assert.deepEqual(
    groups.rows.map((row) => [row.BRAND, row.PUBLISHER_ID, row.UNITS_SOLD, row.ORDERS]),
    [['Acme', '10', String(3 * adCount), String(adCount)]]
  )
  assert.deepEqual({ ...json.totals[0], ORDERS: String(adCount) }, total)
  assert.deepEqual(series.totals, [{ ...total, UNCONVERTED: '0' }])
})

test('a locale changes the labels and nothing else, and DATE stands in a row with dateBreakdown', async () => {
  let labels: readonly string[] = []
  const german = await collect(
    campaign.report(1, range, { locale: 'de-DE', onHead: (head) => (labels = head.labels) })
  )
  const [dated] = await collect(campaign.report(1, { ...range, dateBreakdown: true }))

  assert.deepEqual(german, await collect(campaign.report(1, range)))
  assert.ok(!labels.includes('CLICKS'))
  assert.match(dated?.DATE ?? '', /^\d{4}-\d{2}-\d{2}$/)
})

test('a report that another of the same key asks anew in the middle fails instead of mixing two results', async () => {
  const query = { ...range, limit: 4, orderBy: 'BRAND' } as const
  const report = campaign.report(1, query)

  await report.next()
  await campaign.reportCsv(1, query).then(({ body }) => body.toArray())

  await assert.rejects(collect(report), { code: 'REPORT_CHANGED', isRetryable: true })
})

test('an asset is attached, and again; sites are listed; refusals have their code and words', async () => {
  const creative = { creativeSizeId: 1, assetId }
  const adGroup = { advertiserId: 1, campaignId: 1001, adGroupId: 5003 }

  const asset = await campaign.addAsset(adGroup, creative)
  const sites = await campaign.siteLocations(1, { publisherId: 10, marketId: 1 })

  assert.deepEqual(await campaign.addAsset(adGroup, creative), asset)
  assert.equal(asset.fileName, 'banner.png')
  assert.equal(asset.advertised, true)
  assert.deepEqual(
    sites.map(({ site, locations }) => [site?.id, locations?.[0]?.location]),
    [[101, 'HOME_PAGE']]
  )
  await assert.rejects(campaign.addAsset({ ...adGroup, adGroupId: 9 }, creative), {
    code: 'NOT_FOUND',
    status: 404,
  })
  await assert.rejects(campaign.addAsset({ ...adGroup, adGroupId: 5001 }, creative), {
    code: 'REQUEST_REFUSED',
    status: 422,
  })
  await assert.rejects(campaign.siteLocations(2, { publisherId: 10, marketId: 1 }), {
    code: 'ACCESS_FORBIDDEN',
  })
  const stranger = createCampaignClient({ url: service.campaignUrl, key: 'st_unknown' })
  await assert.rejects(collect(stranger.report(1, range)), { code: 'KEY_REFUSED', status: 401 })
})

test('a conversion is sent on until a tracker that was killed is back', async () => {
  const publisher = createPublisherClient({ url: service.trackingUrl, attemptsMax: 20 })
  const [tracker] = service.children('tracker')
  assert.ok(tracker !== undefined)

  process.kill(tracker, 'SIGKILL')
  const sent = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      publisher.sendConversion({ ...purchase(0), transaction_id: `killed-${index}` })
    )
  )

  assert.equal(sent.length, 20)
})
