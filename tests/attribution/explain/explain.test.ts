import assert from 'node:assert/strict'
import { test } from 'node:test'
import { attributionProfiles } from '../../../src/contract/report-request.ts'
import type { Explanation } from '../../../src/contract/explanation.ts'
import { Attributor } from '../../../src/attribution/attribute.ts'
import type { Params, Warehouse } from '../../../src/warehouse/warehouse.ts'
import { emptySnapshot } from '../../../src/catalog/snapshot.ts'
import { createExplainer } from '../../../src/attribution/explain/explain.ts'
import { createOwnExplainer } from '../../../src/attribution/explain/for-advertiser.ts'
import { compareAttribution } from '../../helpers/compare-attribution.ts'
import { createHistoryLoader } from '../../helpers/history-warehouse.ts'
import type { History, HistoryReturn } from '../../helpers/history.ts'
import { attributeHistory } from '../../helpers/reference-attribution.ts'
import { aClick, aPurchase, anAd } from '../../helpers/seal-scenario.ts'
import { openTestWarehouse } from '../../helpers/test-warehouse.ts'

const seed = Number(process.env['SHELFTRACE_TEST_SEED'] ?? Date.now() % 1_000_000)

/** Every purchase of the histories that has a name, once. */
function purchasesOf(histories: readonly History[]) {
  const names = histories.flatMap(({ publisherId, deliveries }) =>
    deliveries.map(({ transactionId }) => ({ publisherId, transactionId }))
  )
  const named = names.filter(({ transactionId }) => transactionId.trim() !== '')
  return [...new Map(named.map((name) => [JSON.stringify(name), name])).values()]
}

/** The credits of the lines that have any, in words that both sides share. */
function creditsOf({ lines }: Explanation): readonly string[] {
  return lines.flatMap(({ line, credits }) =>
    attributionProfiles.flatMap((profile) => {
      const credit = credits[profile]
      if (credit === null) return []
      const { servedAdId, rule, touchedAt } = credit
      return [`${line} ${profile} ${servedAdId.replaceAll('-', '')} ${rule} ${touchedAt}`]
    })
  )
}

for (const [crowdMax, historyCount] of [
  [5_000, 40],
  [2, 30],
] as const) {
  test(`the explanation of every purchase names the winners that are stored and those of the reference, with crowds of more than ${crowdMax}`, async (t) => {
    const warehouse = await openTestWarehouse(t)
    const { histories, differences } = await compareAttribution({
      warehouse,
      seed,
      historyCount,
      crowdMax,
    })
    assert.deepEqual(differences, [])
    const explain = createExplainer({
      warehouse,
      settleMs: 0,
      catalog: () => emptySnapshot,
      crowdMax,
    })
    const expected = new Map(
      histories
        .flatMap((history) => attributeHistory(history, { crowdMax }))
        .map((purchase) => [purchase.deliveryId, purchase])
    )
    let creditCount = 0
    const losses = new Set<string>()

    for (const name of purchasesOf(histories)) {
      const explanation = await explain(name)
      assert.ok(explanation !== null)
      const purchase = expected.get(explanation.countedDeliveryId ?? '')
      const referenceCredits = (purchase?.lines ?? []).flatMap(({ lineIndex, credits }) =>
        attributionProfiles.flatMap((profile) => {
          const credit = credits[profile]
          if (credit === null) return []
          const at = new Date(credit.touchedAtMs).toISOString()
          return [`${lineIndex + 1} ${profile} ${credit.servedAdId} ${credit.rule} ${at}`]
        })
      )

      assert.deepEqual(creditsOf(explanation), referenceCredits)
      assert.deepEqual(
        [explanation.isUpToDate, explanation.isPending],
        [true, false],
        JSON.stringify(explanation)
      )
      creditCount += referenceCredits.length
      for (const { candidates, credits } of explanation.lines) {
        for (const profile of attributionProfiles) {
          const winners = candidates.filter(({ outcomes }) => outcomes[profile] === 'won')
          const ids = winners.map(({ servedAdId, kind }) => `${servedAdId} ${kind}`)
          const credit = credits[profile]
          const kind = credit?.rule === 'view' ? 'view' : 'click'
          assert.deepEqual(ids, credit === null ? [] : [`${credit.servedAdId} ${kind}`])
        }
        for (const { outcomes } of candidates) {
          Object.values(outcomes).forEach((outcome) => losses.add(outcome))
        }
      }
    }

    t.diagnostic(`seed ${seed}: ${creditCount} credits; outcomes ${[...losses].join(', ')}`)
    assert.ok(creditCount > 0)
  })
}

interface Statement {
  readonly sql: string
  readonly params: Params
}

test('an explanation finds its rows along the order of the tables: no statement reads history', async (t) => {
  const warehouse = await openTestWarehouse(t)
  const atMs = Date.UTC(2026, 2, 2, 12)
  const loader = createHistoryLoader(warehouse, 0)
  const voided = aPurchase({ atMs: atMs - 1, transactionId: 'T1', deliveryId: 'e'.repeat(32) })
  await loader.ship([
    aClick(anAd(), atMs - 1_000),
    aPurchase({ atMs, transactionId: 'T1' }),
    voided,
  ])
  const sentBack = {
    deliveryId: 'f'.repeat(32),
    returnId: 'R1',
    receivedAtMs: atMs,
    publisherId: 10,
    transactionId: 'T1',
    lines: [{ gtin: anAd().gtin, quantity: 1 }],
    untrusted: false,
  }
  // An empty table is not read at all.
  await loader.ship([sentBack])
  await loader.void([voided])
  const attributor = new Attributor({ warehouse, settleMs: 0 })
  while ((await attributor.attributeBatch()).hasMore);
  const statements: Statement[] = []
  const watched = {
    barrier: (tables: Parameters<Warehouse['barrier']>[0]) => warehouse.barrier(tables),
    rows: <Row>(sql: string, params: Params = {}) => {
      statements.push({ sql, params })
      return warehouse.rows<Row>(sql, params)
    },
  }

  await createExplainer({ warehouse: watched, settleMs: 0, catalog: () => emptySnapshot })({
    publisherId: 10,
    transactionId: 'T1',
  })

  const keysByTable = {
    purchase: ['purchase_key'],
    delivery: ['day', 'publisher_id', 'purchase_key'],
    delivery_judgement: ['purchase_key'],
    purchase_return: ['purchase_key'],
    touchpoint: ['publisher_id', 'identity'],
    attribution: ['day', 'purchase_key'],
    pending_purchase: ['shipped_at'],
  }
  const seen = new Set<string>()
  for (const { sql, params } of statements) {
    const [, table = ''] =
      /FROM (purchase|purchase_return|delivery|delivery_judgement|touchpoint|attribution|pending_purchase)\b/.exec(
        sql
      ) ?? []
    if (!(table in keysByTable)) continue
    const plan = await warehouse.rows<{ explain: string }>(`EXPLAIN indexes = 1 ${sql}`, params)
    const text = plan.map(({ explain }) => explain.trim()).join('\n')
    seen.add(table)
    if (sql.includes('AND NOT (')) {
      assert.match(text, /delivery_purchase_key/, text)
      continue
    }
    for (const key of keysByTable[table as keyof typeof keysByTable]) {
      assert.match(
        text,
        new RegExp(`PrimaryKey[^]*Keys:[^]*\\b${key}\\b[^]*Condition: [^]*\\b${key}\\b`),
        `${table}: ${text}`
      )
    }
  }
  assert.equal(seen.size, 7)
})

test('a return of a purchase on a final day is too late in explanations, which agree with the reports', async (t) => {
  const warehouse = await openTestWarehouse(t)
  const loader = createHistoryLoader(warehouse, 0)
  const atMs = Date.UTC(2026, 2, 2, 12)
  const name = { publisherId: 10, transactionId: 't-1' }
  const taking = (quantity: number, changes: Partial<HistoryReturn>): HistoryReturn => ({
    ...name,
    returnId: 'r-1',
    deliveryId: '7'.repeat(32),
    receivedAtMs: atMs + 1,
    lines: [{ gtin: anAd().gtin, quantity }],
    untrusted: false,
    ...changes,
  })
  await loader.ship([aClick(anAd(), atMs), aPurchase({ atMs, quantity: 3 }), taking(1, {})])
  while ((await new Attributor({ warehouse, settleMs: 0 }).attributeBatch()).hasMore);
  await warehouse.command(
    `INSERT INTO final_before SELECT '2026-03-05', arrayJoin(['announced', 'final']), now64(6)`
  )
  const deps = { warehouse, settleMs: 0, catalog: () => emptySnapshot }

  const late = { returnId: 'r-2', deliveryId: '8'.repeat(32), receivedAtMs: Date.UTC(2026, 2, 9) }
  await loader.ship([taking(1, late)])
  const explanation = await createExplainer(deps)(name)
  const own = await createOwnExplainer(deps)({ ...name, advertiserId: 1 })

  assert.deepEqual(
    explanation?.returns.map(({ returnId, standing }) => `${returnId} ${standing}`),
    ['r-1 counted', 'r-2 too-late']
  )
  assert.deepEqual([explanation?.isUpToDate, explanation?.isPending], [true, false])
  assert.equal(explanation?.lines[0]?.remainingQuantity, 2)
  const [line] = own?.lines ?? []
  assert.deepEqual([line?.boughtQuantity, line?.quantity], [3, 2])
  assert.deepEqual(
    line?.returns.map(({ quantity }) => quantity),
    [1]
  )

  // Read again because of a repeat on a later day, and at last without its rows.
  const repeat = { atMs: Date.UTC(2026, 2, 9), deliveryId: '2'.repeat(32), quantity: 3 }
  await loader.ship([aPurchase(repeat)])
  while ((await new Attributor({ warehouse, settleMs: 0 }).attributeBatch()).hasMore);
  const standings = async () =>
    (await createExplainer(deps)(name))?.returns.map(({ standing }) => standing)
  assert.deepEqual(await standings(), ['counted', 'too-late'])
  await warehouse.command('TRUNCATE TABLE attribution')
  assert.deepEqual(await standings(), ['counted', 'too-late'])
})
