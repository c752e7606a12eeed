import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  findJudgement,
  requestJudgement,
} from '../../src/attribution/judging/judgement-requests.ts'
import { Pipeline } from '../../src/pipeline/pipeline.ts'
import { keyedPolicy } from '../helpers/incident.ts'
import { aConversion, append, aReturn, aShipment, failing } from '../helpers/shipment.ts'

const tidying = {
  forget: 'FROM pending_purchase\n       ORDER BY day LIMIT 1000',
  'forget-addresses': 'FROM set_aside WHERE',
  sweep: 'rollup_begun',
  retention: 'final_before',
} as const

for (const [broken, text] of Object.entries(tidying)) {
  test(`while ${broken} fails at every try, whatever else tidies up goes on, and status names the step`, async (t) => {
    const { deps, warehouse } = await aShipment(t)
    const asked = new Set<string>()
    const pipeline = new Pipeline({
      onJudged: () => Promise.resolve(),
      ...deps,
      warehouse: failing(warehouse, (sql) => {
        for (const [name, part] of Object.entries(tidying)) if (sql.includes(part)) asked.add(name)
        return sql.includes(text)
      }),
      retentionDays: 90,
      clock: Date.now,
      attributes: true,
      tidyPauseMs: 20,
    })
    t.after(() => pipeline.close())
    const others = Object.keys(tidying).filter((name) => name !== broken)

    // Twice over, so that all went on after the first failure as well.
    for (let round = 0; round < 2; round += 1) {
      asked.clear()
      while ([broken, ...others].some((name) => !asked.has(name))) await sleep(5)
    }

    assert.ok(pipeline.failingSteps().includes(`${broken} fails: WAREHOUSE_UNAVAILABLE`))
    for (const name of others) {
      assert.ok(!pipeline.failingSteps().some((step) => step.startsWith(`${name} `)), name)
    }
  })
}

test('the pipeline judges what is requested, and says so once it is done', async (t) => {
  const { deps, warehouse, spool } = await aShipment(t)
  await append(spool, [aConversion(), aReturn()])
  const told: string[] = []
  const pipeline = new Pipeline({
    ...deps,
    onJudged: ({ id, keyName }, { counts }) => {
      told.push(`${id} of ${keyName} looked at ${counts.looked}`)
      return Promise.resolve()
    },
    retentionDays: 90,
    clock: Date.now,
    attributes: true,
  })
  t.after(() => pipeline.close())
  while (spool.depth().oldestAtMs !== null) await sleep(5)

  const { id } = await requestJudgement(warehouse, {
    publisherId: aConversion().publisherId,
    fromMs: aConversion().receivedAtMs,
    toMs: aReturn().receivedAtMs + 1,
    reason: 'a test',
    isDryRun: true,
    assume: null,
    pinned: { policy: keyedPolicy, keys: [] },
    key: { id: 'key_a', name: 'Operator' },
  })
  while (told.length === 0) await sleep(20)

  assert.deepEqual(told, [`${id} of Operator looked at 2`])
  const judgement = await findJudgement(warehouse, id)
  assert.deepEqual([judgement?.deliveries.lost, judgement?.returns.lost], [1, 1])
})

// A boundary that became final while input of its days waits would make that input too late.
test('no day becomes final while attribution is minutes behind, and days do once it has caught up', async (t) => {
  const { deps, warehouse } = await aShipment(t)
  const asked = { retention: 0, sweep: 0 }
  let aheadMs = 300_000
  const pipeline = new Pipeline({
    onJudged: () => Promise.resolve(),
    ...deps,
    warehouse: failing(warehouse, (sql) => {
      // Only retention asks which boundary was reached; shipping and sealing read the table too.
      if (sql.includes('FROM final_before\n     WHERE state')) asked.retention += 1
      if (sql.includes('rollup_begun')) asked.sweep += 1
      return false
    }),
    retentionDays: 90,
    clock: () => Date.now() + aheadMs,
    attributes: true,
    tidyPauseMs: 20,
  })
  t.after(() => pipeline.close())
  const waitForSweeps = async () => {
    const until = asked.sweep + 6
    while (asked.sweep < until) await sleep(5)
  }

  await waitForSweeps()
  const whileBehind = asked.retention
  aheadMs = 0
  while (asked.retention === 0) await sleep(5)

  assert.equal(whileBehind, 0)
})
