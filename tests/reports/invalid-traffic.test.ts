// What an ad event of an invalid caller shows as, from its shipping to the reports.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { firedPlace } from '../../src/catalog/fired-place.ts'
import type { FiredPlace } from '../../src/domain/ad-event-verdict.ts'
import { emptySnapshot, extendSnapshot } from '../../src/catalog/snapshot.ts'
import { createIntakeReader } from '../../src/reports/intake.ts'
import { createServedAdReader } from '../../src/reports/served-ad.ts'
import { createTrafficQualityReader } from '../../src/reports/traffic-quality.ts'
import type { AdEventRecord } from '../../src/spool/record.ts'
import { migrate } from '../../src/warehouse/migrate.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'
import { openKeptPages } from '../helpers/kept-pages.ts'
import { aShipment, anEvent, append, mint, shipBatch } from '../helpers/shipment.ts'
import type { Shipment } from '../helpers/shipment.ts'
import { anAd, servedAtMs } from '../tracking-data/builders.ts'
import { withoutColumn } from '../helpers/former-program.ts'

const migration = '0020-invalid-traffic.sql'
const sites = [
  { id: 101, name: 'Desktop', type: 'DESKTOP' as const, marketIds: [1] },
  { id: 103, name: 'App', type: 'MOBILE_APP' as const, marketIds: [1] },
  { id: 105, name: 'Mails', type: 'EMAIL' as const, marketIds: [1] },
]
const catalog = extendSnapshot(emptySnapshot, {
  publishers: [
    { id: 10, name: 'Example Shop', sites },
    { id: 11, name: 'Backend Shop', firesFromBackend: true, sites },
  ],
})

function placeOf(publisherId: number, siteId: number): FiredPlace {
  return firedPlace(catalog, publisherId, siteId)
}

async function ship(shipment: Shipment, events: readonly Partial<AdEventRecord>[]): Promise<void> {
  const { deps, spool } = shipment
  await append(spool, events.map(anEvent))
  await shipBatch({ ...deps, rowContext: { ...deps.rowContext, placeOf } })
}

function tokenAt(publisherId: number, siteId: number): string {
  return mint(anAd({ publisherId, siteId })).trackingData
}

async function readQuality(warehouse: Warehouse): Promise<readonly string[]> {
  const names = {
    markets: () => [],
    publishers: () => [],
    campaigns: () => [],
    adGroups: () => [],
  }
  const keptPages = openKeptPages()
  const read = createTrafficQualityReader({ warehouse, catalog: () => names, keptPages })
  const day = new Date(servedAtMs).toISOString().slice(0, 10)
  const { rows } = await read({
    advertiserId: anAd().advertiserId,
    keyId: 'test',
    request: { startDate: day, endDate: day, page: 0, limit: 100 },
    signal: new AbortController().signal,
  })
  await keptPages.close()
  return rows.map(({ publisherId, kind, counted, uncounted }) => {
    const reasons = [...uncounted].filter(([, count]) => count > 0)
    return [publisherId, kind, counted, ...reasons.flat()].join(' ')
  })
}

test('callers are judged by the site, and each reason shows per publisher in the traffic quality', async (t) => {
  const shipment = await aShipment(t)
  const list = '0123456789ab'
  const unnamed = { caller: 'unnamed', userAgent: '' } as const
  await ship(shipment, [
    { trackingData: tokenAt(10, 101), ...unnamed },
    { trackingData: tokenAt(10, 103), ...unnamed },
    { trackingData: tokenAt(10, 101), caller: 'app-library' },
    { trackingData: tokenAt(10, 103), caller: 'app-library' },
    { trackingData: tokenAt(10, 105), caller: 'mail-proxy', kind: 'impression' },
    { trackingData: tokenAt(10, 101), caller: 'ordinary', dataCentreList: list },
    { trackingData: tokenAt(10, 105), caller: 'mail-proxy', kind: 'load', dataCentreList: list },
    { trackingData: tokenAt(11, 101), ...unnamed, dataCentreList: list },
  ])

  assert.deepEqual(await readQuality(shipment.warehouse), [
    '10 LOAD 1',
    '10 IMPRESSION 1',
    '10 CLICK 2 bot 1 no-user-agent 1 data-centre 1',
    '11 CLICK 1',
  ])
  const [charged] = await shipment.warehouse.rows<{ n: number }>(
    `SELECT count() AS n FROM touchpoint FINAL WHERE publisher_id = 10 AND kind = 'click' AND site_id = 101`
  )
  assert.equal(charged?.n, 0)
})

test('a person behind every kind of invalid caller counts, for the same ad and at the same moment', async (t) => {
  const shipment = await aShipment(t)
  const trackingData = tokenAt(10, 101)
  await ship(
    shipment,
    (['unnamed', 'app-library', 'mail-proxy', 'bot', 'ordinary'] as const).map((caller) => ({
      trackingData,
      caller,
    }))
  )

  assert.deepEqual(await readQuality(shipment.warehouse), ['10 CLICK 1 bot 1 no-user-agent 1'])
})

test('the explanation of the ad names the version of the list that decided, and the intake the reason', async (t) => {
  const shipment = await aShipment(t)
  const ad = anAd({ publisherId: 10, siteId: 101 })
  const { servedAdId, trackingData } = mint(ad)
  const event = { trackingData, caller: 'ordinary' } as const
  await ship(shipment, [
    { ...event, dataCentreList: 'bbbbbbbbbbbb', receivedAtMs: servedAtMs + 2_000 },
    { ...event, dataCentreList: 'aaaaaaaaaaaa', receivedAtMs: servedAtMs + 1_000 },
    { ...event, receivedAtMs: servedAtMs + 3_000 },
  ])

  const { publisherId, advertiserId } = ad
  const read = createServedAdReader(shipment.warehouse)
  const { events } = await read({ servedAdId, servedAtMs, publisherId, advertiserId })

  assert.deepEqual(
    events.map(({ verdict, dataCentreList }) => [verdict, dataCentreList]),
    [
      ['data-centre', 'aaaaaaaaaaaa'],
      ['counted', undefined],
    ]
  )
  const day = new Date(servedAtMs).toISOString().slice(0, 10)
  const intake = await createIntakeReader(shipment.warehouse)({
    publisherId,
    startDate: day,
    endDate: day,
    siteIds: [101],
    marketIds: [1],
    signal: new AbortController().signal,
  })
  assert.deepEqual(intake.days[0]?.clicks.notCounted, { 'data-centre': 1 })
})

/** As the program of before left the schema, but for the verdicts, of which none can be taken back. */
async function takeBack(warehouse: Warehouse): Promise<void> {
  const folder = new URL('../../src/warehouse/migrations/', import.meta.url)
  const former = readFileSync(new URL('0016-publisher-in-event-key.sql', folder), 'utf8')
  const view = former.slice(former.indexOf('ALTER TABLE ad_event_view')).replace(/;\s*$/, '')
  await warehouse.command(view)
  await warehouse.command('ALTER TABLE ad_event_in DROP COLUMN data_centre_list')
  await warehouse.command('ALTER TABLE ad_event DROP COLUMN data_centre_list')
  await warehouse.command('DELETE FROM migration WHERE name = {migration:String}', { migration })
}

/** Inserts what the program of before inserted. */
function asBefore(shipment: Shipment): Shipment {
  const warehouse = withoutColumn(shipment.warehouse, 'data_centre_list')
  return { ...shipment, deps: { ...shipment.deps, warehouse } }
}

test('events of before the upgrade keep their verdicts, an older program still ships, and new reasons join', async (t) => {
  const shipment = await aShipment(t)
  await takeBack(shipment.warehouse)
  const trackingData = tokenAt(10, 101)
  await ship(asBefore(shipment), [
    { trackingData, isBot: true },
    { trackingData, isBot: false, userAgent: '' },
  ])

  assert.deepEqual(await migrate(shipment.warehouse), [migration])
  assert.deepEqual(await readQuality(shipment.warehouse), ['10 CLICK 1 bot 1'])
  await ship(shipment, [{ trackingData: tokenAt(10, 101), caller: 'unnamed' }])
  await migrate(shipment.warehouse)

  assert.deepEqual(await readQuality(shipment.warehouse), ['10 CLICK 1 bot 1 no-user-agent 1'])
})
