import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { shownAdvertiserId } from '../../scripts/demo/catalog.ts'
import type { Action, Step } from '../../scripts/demo/journey.ts'
import { planJourneys } from '../../scripts/demo/journeys.ts'
import { productKey } from '../../scripts/demo/sales.ts'

const journeys = planJourneys({ seed: 7, shoppers: 400 })

describe('the shoppers of the demo', () => {
  it('look around in the account that is shown, and try what can go wrong elsewhere', () => {
    const shown = journeys.filter(({ ads }) =>
      ads.some(({ request }) => request.advertiserId === shownAdvertiserId)
    )
    assert.deepEqual([...new Set(shown.map(nameOf))], ['lookAround'])
    assert.equal(shown.length > 10, true)
  })

  it('do the same for the same seed and something else for another', () => {
    assert.deepEqual(planJourneys({ seed: 7, shoppers: 400 }), journeys)
    assert.notDeepEqual(planJourneys({ seed: 8, shoppers: 400 }), journeys)
  })

  it('play every scenario in the smallest run that is allowed', () => {
    const inSmallest = new Set(planJourneys({ seed: 1, shoppers: 50 }).map(nameOf))

    assert.deepEqual([...new Set(journeys.map(nameOf))].toSorted(), [...inSmallest].toSorted())
  })

  // Requests of one step may arrive in any order, so none of them may depend on another.
  it('do nothing at once that could compete for a credit', () => {
    for (const { scenario, steps } of journeys) {
      for (const step of steps) assert.equal(competitorCount(step) <= 1, true, scenario)
    }
  })

  it('share no user, login or transaction with another journey', () => {
    const owners = new Map<string, number>()
    for (const [index, { steps }] of journeys.entries()) {
      for (const name of steps.flat().flatMap(namesOf)) {
        const owner = owners.get(name) ?? index
        assert.equal(owner, index, name)
        owners.set(name, index)
      }
    }
  })
})

function nameOf({ scenario }: { readonly scenario: string }): string {
  return scenario
}

/** Touches of one product by different ads, or of one group by clicks, and purchases beside touches. */
function competitorCount(step: Step): number {
  const touches = step.filter((action) => action.type === 'fire' && action.kind !== 'load')
  const purchases = new Set(step.filter(({ type }) => type === 'purchase'))
  const byProduct = new Map<string, Set<object>>()
  for (const action of touches) {
    if (action.type !== 'fire') continue
    const { gtin, groupId } = action.ad.request
    const key = action.kind === 'click' ? `group ${groupId}` : `product ${productKey(gtin)}`
    byProduct.set(key, (byProduct.get(key) ?? new Set()).add(action.ad))
  }
  const rivals = Math.max(0, ...[...byProduct.values()].map((ads) => ads.size))
  const sides = purchases.size + (touches.length > 0 ? 1 : 0)
  return Math.max(rivals, sides)
}

const nobody = /^$|^undefined$|^null$|^none$|^0$|^-1$|^anonymous$|^guest$|^unknown$|^[0-]+$/i

function namesOf(action: Action): string[] {
  if (action.type === 'purchase') {
    const { transactionId, ...person } = action.purchase
    return [...personNames(person), ...(transactionId === '' ? [] : [`order ${transactionId}`])]
  }
  if (action.type === 'return') return [`order ${action.sentBack.transactionId}`]
  return action.type === 'fire' ? personNames(action.ad.request) : []
}

function personNames(person: { readonly userId: string; readonly userLoggedInId?: string }) {
  const { userId, userLoggedInId = '' } = person
  return [
    ...(nobody.test(userId) ? [] : [`user ${userId}`]),
    ...(nobody.test(userLoggedInId) ? [] : [`login ${userLoggedInId}`]),
  ]
}
