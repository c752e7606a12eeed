import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { advertisers, markets, shownAdvertiserId } from '../../scripts/demo/catalog.ts'
import { nanosOf } from '../../scripts/demo/decimal.ts'
import { expectReports, type AdFire } from '../../scripts/demo/expectation.ts'
import { planHistory, type Visit } from '../../scripts/demo/history-plan.ts'
import { reportTable } from '../../scripts/demo/table.ts'

const dayMs = 86_400_000
const untilMs = Date.UTC(2026, 2, 15, 14, 30)
const usual = { days: 56, adsPerDay: 2_000, untilMs }

describe('the history of the demo', () => {
  it('is the same for the same seed and another for another, and none when no day is asked for', () => {
    const small = { ...usual, adsPerDay: 20 }
    assert.deepEqual(planHistory({ ...small, seed: 3 }), planHistory({ ...small, seed: 3 }))
    assert.notDeepEqual(planHistory({ ...small, seed: 3 }), planHistory({ ...small, seed: 4 }))
    assert.deepEqual(planHistory({ ...small, seed: 3, days: 0 }), [])
  })

  it('fills every day up to the given instant, and nothing is later', () => {
    const visits = planHistory({ ...usual, seed: 1, adsPerDay: 50 })
    const instants = visits.flatMap((visit) => [
      visit.servedAtMs,
      visit.viewedAtMs,
      visit.clickedAtMs ?? 0,
      visit.purchase?.atMs ?? 0,
    ])
    const days = new Set(visits.map(({ servedAtMs }) => Math.floor(servedAtMs / dayMs)))

    assert.equal(Math.max(...instants) <= untilMs, true)
    for (let daysAgo = 0; daysAgo <= 56; daysAgo += 1) {
      assert.equal(days.has(Math.floor(untilMs / dayMs) - daysAgo), true, `${daysAgo} days ago`)
    }
  })

  it('serves ads only where their advertiser may advertise, each to a shopper of its own', () => {
    const visits = planHistory({ ...usual, seed: 2, days: 7 })
    for (const { request } of visits) {
      const access: readonly Access[] =
        advertisers.find(({ id }) => id === request.advertiserId)?.access ?? []
      const isOpen = access.some(
        ({ publisherId, marketIds }) =>
          publisherId === request.publisherId && marketIds.includes(request.marketId)
      )
      assert.equal(isOpen, true, JSON.stringify(request))
    }
    assert.equal(new Set(visits.map(({ request }) => request.userId)).size, visits.length)
  })

  for (const seed of [1, 7]) {
    it(`has the rates of this trade in the account that is shown (seed ${seed})`, () => {
      const { clickRate, returnOnAdSpend } = ratesOf(planHistory({ ...usual, seed }))

      assert.equal(clickRate > 0.003 && clickRate < 0.03, true, `CTR ${clickRate}`)
      assert.equal(returnOnAdSpend > 2 && returnOnAdSpend < 12, true, `ROAS ${returnOnAdSpend}`)
    })
  }
})

interface Access {
  readonly publisherId: number
  readonly marketIds: readonly number[]
}

/** Of all markets together: yen are 160 times as many as euros. */
function ratesOf(visits: readonly Visit[]) {
  const fires = visits.flatMap(firesOf)
  const deliveries = visits.flatMap(({ purchase }) => (purchase === null ? [] : [purchase]))
  const rows = expectReports({ fires, deliveries, returns: [] }).get('IMP_1_DAY_CLK_14_DAYS') ?? []
  let [impressions, clicks, value, spend] = [0, 0, 0, 0]
  for (const row of rows.filter(({ advertiserId }) => advertiserId === shownAdvertiserId)) {
    const isYen = markets.find(({ id }) => id === row.marketId)?.currency === 'JPY'
    impressions += row.impressions
    clicks += row.clicks
    value += Number(row.valueNanos) / (isYen ? 160 : 1)
    spend += Number(row.spendNanos) / (isYen ? 160 : 1)
  }
  return { clickRate: clicks / impressions, returnOnAdSpend: value / spend }
}

function firesOf(visit: Visit, index: number): readonly AdFire[] {
  const { servedAtMs, viewedAtMs, clickedAtMs, request } = visit
  const ad = { ...request, servedAdId: String(index).padStart(32, '0'), servedAtMs }
  const view: AdFire = { kind: 'impression', ad, atMs: viewedAtMs, visitor: 'person' }
  if (clickedAtMs === null) return [view]
  return [view, { kind: 'click', ad, atMs: clickedAtMs, visitor: 'person' }]
}

describe('the table of the demo', () => {
  const row = {
    AD_GROUP_NAME: 'Search, all',
    IMPRESSIONS: '1000000',
    CLICKS: '16021',
    CONVERSIONS: '1204',
    CONVERSION_VALUE: '1234567.125000000',
    AD_SPEND_REVENUE: '123456.705000000',
    CURRENCY: 'EUR',
  }
  const lines = reportTable([
    row,
    { ...row, CURRENCY: 'JPY', CONVERSION_VALUE: '160.5', AD_SPEND_REVENUE: '0', CLICKS: '0' },
    { ...row, AD_GROUP_NAME: 'Brand rows', IMPRESSIONS: '0', CLICKS: '0' },
  ]).split('\n')

  it('fits a terminal of 80 columns with millions of views', () => {
    for (const line of lines) assert.equal(line.length <= 80, true, line)
  })

  it('adds up the rows of an ad group and a currency, and rounds money once, half to even', () => {
    const shown = lines.map((line) => line.trim().split(/ {2,}/).join('|'))

    assert.equal(nanosOf(row.CONVERSION_VALUE) * 2n, nanosOf('2469134.25'))
    assert.deepEqual(
      shown.filter((line) => !line.startsWith('─')),
      [
        'Ad group|Impr.|Clicks|CTR|Conv.|Value|Spend|ROAS',
        'Brand rows|0|0|1204|1234567.12|123456.70|10.00|EUR',
        'Search, all|1000000|16021|1.60 %|1204|1234567.12|123456.70|10.00|EUR',
        'Search, all|1000000|0|0.00 %|1204|160|0|JPY',
        'Total|1000000|16021|1.60 %|2408|2469134.25|246913.41|10.00|EUR',
        'Total|1000000|0|0.00 %|1204|160|0|JPY',
      ]
    )
  })
})
