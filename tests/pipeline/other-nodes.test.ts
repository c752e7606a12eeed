// What a pipeline does with what it knows of other nodes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Nodes } from '../../src/nodes/nodes.ts'
import { Pipeline } from '../../src/pipeline/pipeline.ts'
import { anEvent, append, aShipment, failing, mint } from '../helpers/shipment.ts'
import { anAd } from '../tracking-data/builders.ts'

const dayMs = 86_400_000
const markets = [{ id: 1, code: 'XX', currency: 'EUR', timeZone: 'UTC' }]

test('a day is not sealed while an event of it waits in the spool of another node, and is once that was shipped', async (t) => {
  const { deps, spool, warehouse } = await aShipment(t)
  const nodeOf = (id: string, depth: { bytes: number; oldestAtMs: number | null }) =>
    new Nodes({
      warehouse,
      node: { id, name: id, roles: ['tracker', 'engine'] },
      spool: { depth: () => depth },
      clock: Date.now,
      monotonicMs: () => performance.now(),
    })
  const elsewhere: { bytes: number; oldestAtMs: number | null } = { bytes: 0, oldestAtMs: null }
  const [own, other] = [nodeOf('own', spool.depth()), nodeOf('other', elsewhere)]
  const noonMs = Math.floor(Date.now() / dayMs) * dayMs - 2.5 * dayMs
  elsewhere.bytes = 400
  elsewhere.oldestAtMs = noonMs
  await other.beat()
  await own.beat()
  const looks = { count: 0 }
  const pipeline = new Pipeline({
    onJudged: () => Promise.resolve(),
    ...deps,
    nodes: own,
    warehouse: failing(warehouse, (sql) => {
      if (sql.includes('FROM touched_span')) looks.count += 1
      return false
    }),
    settleMs: 0,
    markets: () => markets,
    retentionDays: 90,
    clock: Date.now,
    attributes: true,
  })
  t.after(() => pipeline.close())
  const sealedDays = async () => {
    const rows = await warehouse.rows<{ day: string }>(
      'SELECT DISTINCT toString(s.day) AS day FROM sealed_day AS s WHERE unit = 1 ORDER BY day'
    )
    return rows.map(({ day }) => day)
  }
  const days = [noonMs - dayMs, noonMs].map((atMs) => new Date(atMs).toISOString().slice(0, 10))
  await append(
    spool,
    [noonMs - dayMs, noonMs].map((receivedAtMs) => {
      const { trackingData } = mint(anAd({ servedAtMs: receivedAtMs - 1_000 }))
      return anEvent({ receivedAtMs, trackingData })
    })
  )
  while (!(await sealedDays()).includes(days[0]!)) await sleep(50)
  const enough = looks.count + 2
  while (looks.count < enough) await sleep(50)
  const whileItWaits = await sealedDays()

  elsewhere.bytes = 0
  elsewhere.oldestAtMs = null
  await other.beat()
  await own.beat()
  while (!(await sealedDays()).includes(days[1]!)) await sleep(50)

  assert.deepEqual(whileItWaits, days.slice(0, 1))
})
