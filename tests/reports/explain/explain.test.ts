import assert from 'node:assert/strict'
import { test } from 'node:test'
import { attributionProfiles } from '../../../src/contract/report-request.ts'
import type { Explanation } from '../../../src/contract/explanation.ts'
import { createExplainer } from '../../../src/reports/explain/explain.ts'
import { compareAttribution } from '../../helpers/compare-attribution.ts'
import type { History } from '../../helpers/history.ts'
import { attributeHistory } from '../../helpers/reference-attribution.ts'
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
    const explain = createExplainer({ warehouse, settleMs: 0, crowdMax })
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
    assert.ok(creditCount > 20)
  })
}
