// Late input on its way through a running pipeline, as a reader of the report sees it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { readReportDays } from '../../src/days/sealed-days.ts'
import { Pipeline } from '../../src/pipeline/pipeline.ts'
import { readFigures } from '../helpers/seal-scenario.ts'
import { aConversion, anEvent, append, aShipment, failing, mint } from '../helpers/shipment.ts'
import { anAd } from '../tracking-data/builders.ts'

const dayMs = 86_400_000
const markets = [{ id: 1, code: 'DE', currency: 'EUR', timeZone: 'Europe/Berlin' }]

test('a late purchase of a sealed day is shown by itself, and until then the report says that the day is renewed', async (t) => {
  const { deps, spool, warehouse } = await aShipment(t)
  let isHeld = false
  const pipeline = new Pipeline({
    onJudged: () => Promise.resolve(),
    ...deps,
    warehouse: failing(warehouse, (sql) => isHeld && sql.includes('INSERT INTO product_day')),
    settleMs: 0,
    markets: () => markets,
    retentionDays: 90,
    clock: Date.now,
    attributes: true,
  })
  t.after(() => pipeline.close())
  const noonMs = Math.floor(Date.now() / dayMs) * dayMs - 2.5 * dayMs
  const day = new Date(noonMs).toISOString().slice(0, 10)
  const { trackingData } = mint(anAd({ servedAtMs: noonMs - 60_000 }))
  const range = { startDate: day, endDate: day }
  const readDays = () => readReportDays(warehouse, markets, range)
  const readLine = async () => {
    const [line = ''] = await readFigures(warehouse, markets, { ...range, advertiserId: 7 })
    return line
  }
  await append(spool, [anEvent({ receivedAtMs: noonMs, trackingData })])
  await until(async () => {
    const sql = 'SELECT 1 FROM sealed_day WHERE sealed_day.day = {day:Date} LIMIT 1'
    return (await warehouse.rows(sql, { day })).length > 0
  })
  // As if minutes had passed since the click was shipped. Until then its day counts as open, because what the
  // click may have moved lies on today as well.
  await warehouse.command('TRUNCATE TABLE touched_span')
  const quiet = await readDays()

  isHeld = true
  await append(spool, [aConversion({ receivedAtMs: noonMs + 3_600_000 })])
  await until(async () => (await readDays()).renewingDays.length > 0)
  const waiting = { days: await readDays(), line: await readLine() }
  isHeld = false
  await until(async () => (await readLine()).includes('conversions 1'))
  const shown = await readLine()

  assert.notEqual(quiet.seals.length, 0)
  assert.equal(quiet.hasOpenDays, false)
  assert.deepEqual(quiet.renewingDays, [])
  assert.deepEqual(waiting.days.renewingDays, [day])
  assert.match(waiting.line, / 0\/0\/1 conversions 0 .* sealed$/u)
  assert.match(shown, / 0\/0\/1 conversions 1 .* sealed$/u)
})

async function until(isReached: () => Promise<boolean>): Promise<void> {
  while (!(await isReached())) await sleep(1_000)
}
