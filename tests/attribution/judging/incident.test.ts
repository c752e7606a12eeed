// An incident played end to end on a real warehouse.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { Warehouse } from '../../../src/warehouse/warehouse.ts'
import {
  aPlace,
  finish,
  forgeries,
  honest,
  judgeAll,
  judgingOf,
  keyedPolicy,
  leakedKey,
  openPolicy,
  request,
  shopKey,
  withLeakedKey,
} from '../../helpers/incident.ts'
import type { Place } from '../../helpers/incident.ts'

/** And a tenth as many returns: 16 s of CPU. */
const purchases = 10_000

/** What advertisers see in a world that never saw the forgeries. */
let reference: readonly string[] = []
before(async () => {
  const closers: (() => Promise<void>)[] = []
  const place = await aPlace({ after: (close) => closers.push(close) })
  await place.ship(honest())
  await place.attribute()
  await place.seal()
  reference = await place.figures()
  for (const close of closers) await close()
})

async function anAttacked(t: Parameters<typeof aPlace>[0], forged: number): Promise<Place> {
  const place = await aPlace(t)
  await place.ship(forgeries(forged, forged / 10))
  await place.attribute()
  await place.ship(honest())
  await place.attribute()
  await place.seal()
  place.policy = keyedPolicy
  return place
}

async function stateOf(warehouse: Warehouse): Promise<unknown> {
  return await warehouse.rows(
    `SELECT count() AS judged, sum(cityHash64(purchase_key, delivery_id, latest)) AS content,
       (SELECT count() FROM pending_purchase) AS pending
     FROM delivery_judgement FINAL`
  )
}

test('judging again restores every figure to the world that never saw the forgeries, with each sealed day restated once; doing it twice changes nothing', async (t) => {
  const place = await anAttacked(t, purchases)
  const { warehouse } = place
  const attacked = await place.figures()
  const sealed = await place.sealCounts()

  const dry = await judgeAll(warehouse, { isDryRun: true })
  const untouched = await place.figures()
  const judged = await judgeAll(warehouse)
  await place.attribute()
  await place.seal()
  const restored = await place.figures()
  const restated = await place.sealCounts()
  const state = await stateOf(warehouse)
  const again = await judgeAll(warehouse)

  assert.notDeepEqual(attacked, reference)
  assert.deepEqual(untouched, attacked, 'a dry run changes nothing')
  assert.deepEqual(restored, reference)
  for (const [day, count] of restated) assert.ok(count - (sealed.get(day) ?? 0) <= 1, day)
  const found = [dry, judged].map((one) => [one.deliveries.lost, one.returns.lost, one.state])
  const expected = [purchases, purchases / 10, 'done']
  assert.deepEqual(found, [expected, expected])
  assert.deepEqual([again.deliveries.lost, again.returns.lost], [0, 0])
  assert.deepEqual(await stateOf(warehouse), state)
  assert.ok(Number(dry.lostCredit[0]?.value) > 0)
})

test('what a dry run says would be lost is the credit that goes, to the last digit', async (t) => {
  const place = await anAttacked(t, 100)
  const { warehouse } = place
  const creditOf = async (condition: string) => {
    const [row] = await warehouse.rows<{ value: string; purchases: number }>(
      `SELECT toString(sum(arraySum(line_value))) AS value, toUInt32(count()) AS purchases
       FROM attribution FINAL WHERE notEmpty(line_index) AND ${condition}`
    )
    return [Number(row?.value), row?.purchases]
  }
  const forged = await creditOf(`substring(lower(hex(delivery_id)), 1, 1) = 'e'`)

  const dry = await judgeAll(warehouse, { isDryRun: true })

  const [lost] = dry.lostCredit
  assert.deepEqual([Number(lost?.value), lost?.purchases], forged)
})

test('an engine that is killed in the middle of judging is completed by the next one', async (t) => {
  const place = await anAttacked(t, 100)
  const { warehouse } = place
  const id = await request(warehouse)
  let left = 3
  const dying: Warehouse = {
    ...warehouse,
    command: async (sql, params) => {
      // The judgements of this part are visible, and their purchases are not pending.
      if (sql.includes('INSERT INTO pending_purchase') && (left -= 1) === 0)
        throw new Error('killed')
      await warehouse.command(sql, params)
    },
  }
  const killed = judgingOf(dying, 50)
  await assert.rejects(async () => {
    while (await killed.step());
  }, /killed/u)

  const judged = await finish(warehouse, id)
  await place.attribute()
  await place.seal()

  assert.equal(judged.state, 'done')
  assert.deepEqual([judged.deliveries.lost, judged.returns.lost], [100, 10])
  assert.deepEqual(await place.figures(), reference)
})

test('two engines that judge at once write the same, and a delivery that was shipped by the policy of before is found', async (t) => {
  const place = await anAttacked(t, 100)
  const { warehouse } = place
  const id = await request(warehouse)
  const engines = [judgingOf(warehouse, 60), judgingOf(warehouse, 45)]
  place.policy = openPolicy
  const late = forgeries(104, 0).slice(100)

  const [first, second] = engines
  await first?.step()
  await place.ship(late)
  await Promise.all(
    [first, second].map(async (engine) => {
      while (await engine?.step());
    })
  )
  const judged = await finish(warehouse, id)
  await place.attribute()
  await place.seal()

  assert.deepEqual([judged.state, judged.deliveries.lost], ['done', 104])
  assert.deepEqual(await place.figures(), reference)
})

test('taking the policy back and judging again believes everything once more', async (t) => {
  const place = await anAttacked(t, 100)
  const { warehouse } = place
  const attacked = await place.figures()

  await judgeAll(warehouse)
  await place.attribute()
  const dry = await judgeAll(warehouse, {
    isDryRun: true,
    pinned: { policy: openPolicy, keys: [] },
  })
  const judged = await judgeAll(warehouse, { pinned: { policy: openPolicy, keys: [] } })
  await place.attribute()
  await place.seal()

  assert.deepEqual([dry.deliveries.gained, judged.deliveries.gained], [100, 100])
  assert.deepEqual(judged.gainedValue, dry.gainedValue)
  assert.deepEqual(await place.figures(), attacked)
})

test('after a wrong source list, deliveries count that never did', async (t) => {
  const place = await aPlace(t)
  place.policy = { ...openPolicy, sources: ['203.0.113.0/24'] }
  await place.ship(honest())
  await place.attribute()
  const empty = await place.figures()

  await judgeAll(place.warehouse, { pinned: { policy: openPolicy, keys: [] } })
  await place.attribute()
  await place.seal()

  assert.notDeepEqual(empty, reference)
  assert.deepEqual(await place.figures(), reference)
})

test('after a key has leaked, what came with it since is taken away, and what came with another key stays', async (t) => {
  const place = await aPlace(t)
  place.policy = keyedPolicy
  await place.ship(forgeries(100, 10, withLeakedKey))
  await place.ship(honest())
  await place.attribute()
  await place.seal()
  const attacked = await place.figures()

  const keys = [shopKey, { ...leakedKey, compromisedSinceMs: leakedKey.createdAtMs }]
  const judged = await judgeAll(place.warehouse, { pinned: { policy: keyedPolicy, keys } })
  await place.attribute()
  await place.seal()

  assert.notDeepEqual(attacked, reference)
  assert.deepEqual([judged.deliveries.lost, judged.returns.lost], [100, 10])
  assert.deepEqual(await place.figures(), reference)
})
