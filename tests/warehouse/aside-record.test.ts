import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forgetAsideAddresses } from '../../src/warehouse/aside-record.ts'
import { countSetAside, replaySetAside } from '../../src/pipeline/set-aside.ts'
import { liveFrom } from '../../src/spool/record.ts'
import { createKeyRing, createMinter, createOpener } from '../../src/tracking-data/tracking-data.ts'
import {
  aConversion,
  aReturn,
  aShipment,
  anEvent,
  append,
  readAside,
  shipBatch,
} from '../helpers/shipment.ts'
import { anAd } from '../tracking-data/builders.ts'

const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0'
const googlebot = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)'
/** Half of a pair of code units: the warehouse refuses the row. */
const loneSurrogate = '\ud800'

test('of an event that is set aside the user agent of a browser is not kept, and a replay judges the same', async (t) => {
  const { deps, warehouse, spool } = await aShipment(t)
  const ownKeys = createKeyRing()
  const { mint } = createMinter(ownKeys)
  await append(
    spool,
    [firefox, googlebot, ''].map((userAgent) =>
      anEvent({ userAgent, trackingData: mint(anAd()).trackingData })
    )
  )

  await shipBatch(deps)

  const stored = (await readAside(warehouse)).map(({ record }) => record).join('\n')
  assert.ok(!stored.includes('X11'))
  assert.ok(stored.includes('Googlebot'))
  const rowContext = { ...deps.rowContext, openAllTrackingData: createOpener(ownKeys).openAll }
  await replaySetAside({ ...deps, rowContext }, null)
  assert.equal(await countSetAside(warehouse), 0)
  assert.deepEqual(
    await warehouse.rows(
      'SELECT toString(verdict) AS verdict, count() AS n FROM ad_event GROUP BY verdict ORDER BY verdict'
    ),
    [
      { verdict: 'bot', n: 1 },
      { verdict: 'counted', n: 2 },
    ]
  )
})

test('the reason of what is set aside holds no piece of the record, also in the table', async (t) => {
  const { deps, warehouse, spool } = await aShipment(t)
  await append(spool, [aConversion({ transactionId: `${loneSurrogate}secret-order` })])

  await shipBatch(deps)

  const [aside] = await readAside(warehouse)
  assert.ok((aside?.reason ?? '') !== '')
  assert.doesNotMatch(aside?.reason ?? '', /secret|[`'"{\n]/u)
})

test('addresses of senders leave what was set aside after 30 days, and nothing else of it does', async (t) => {
  const { warehouse } = await aShipment(t)
  const trap = '"origin":{"kind":"live","address":"203.0.113.9"} "sourceAddress":"203.0.113.9"'
  const { origin: _origin, ...early } = aConversion({ transactionId: 'early' })
  const records: readonly object[] = [
    aConversion({ transactionId: trap, origin: liveFrom('203.0.113.7') }),
    aReturn({ origin: liveFrom('2001:db8::7') }),
    { ...early, sourceAddress: '203.0.113.8' },
    aConversion({ transactionId: trap, origin: { kind: 'backfill' } }),
  ]
  const rows = [31, 29].flatMap((days) =>
    records.map((record, index) =>
      JSON.stringify({
        key: `${days}-${index}`,
        reason: '',
        record: JSON.stringify(record),
        set_aside_at: instantText(Date.now() - days * 86_400_000),
      })
    )
  )
  await warehouse.insert('set_aside', Buffer.from(`${rows.join('\n')}\n`))

  await forgetAsideAddresses(warehouse)
  await forgetAsideAddresses(warehouse)

  const aside = await readAside(warehouse)
  const read = (days: number): unknown[] =>
    aside
      .filter(({ key }) => key.startsWith(`${days}-`))
      .map(({ record }): unknown => JSON.parse(record))
  assert.deepEqual(read(29), records)
  assert.deepEqual(read(31), [
    { ...records[0], origin: liveFrom(null) },
    { ...records[1], origin: liveFrom(null) },
    { ...records[2], sourceAddress: '' },
    records[3],
  ])
})

function instantText(ms: number): string {
  return new Date(ms).toISOString().replace('T', ' ').replace('Z', '000')
}
