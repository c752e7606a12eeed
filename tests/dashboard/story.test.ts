import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lossReasons } from '../../src/contract/explanation.ts'
import type { AttributionProfile } from '../../src/contract/report-request.ts'
import {
  creditedTo,
  eventsOf,
  lossWords,
  tellCredit,
  tellReturns,
  type Names,
  type OwnLine,
} from '../../dashboard/src/story.ts'

const both = 'IMP_1_DAY_CLK_14_DAYS'
const purchasedAt = '2026-11-12T12:00:00.000Z'

const names: Names = {
  publisher: 'Marktfuchs',
  markets: [{ id: 1, code: 'GB', timeZone: 'Europe/London' }],
  campaigns: [{ id: 1001, name: 'Spring offers' }],
  adGroups: [{ id: 5001, name: 'Search' }],
  products: [
    { marketId: 2, gtin: 'pods', title: 'Kapseln' },
    { marketId: 1, gtin: 'pods', title: 'Espresso pods' },
    { marketId: 1, gtin: 'beans', title: 'Beans' },
  ],
}

type Credit = NonNullable<OwnLine['credits'][AttributionProfile]['credit']>

function aCredit(changes: Partial<Credit> = {}): Credit {
  return {
    rule: 'direct',
    servedAdId: 'ad-1',
    touchedAt: '2026-11-12T11:28:00.000Z',
    msBeforePurchase: 32 * 60_000,
    marketId: 1,
    campaignId: 1001,
    adGroupId: 5001,
    gtin: 'pods',
    ...changes,
  }
}

const yours = (credit: Credit) => ({ creditedTo: 'you', credit }) as const
const nobody = { creditedTo: 'nobody', credit: null } as const
const another = { creditedTo: 'another', credit: null } as const

function aLine(changes: Partial<OwnLine> = {}): OwnLine {
  return {
    line: 1,
    gtin: 'pods',
    quantity: 2,
    value: '33.06',
    boughtQuantity: 2,
    boughtValue: '33.06',
    returns: [],
    credits: { CLK_14_DAYS: yours(aCredit()), IMP_1_DAY: nobody, [both]: yours(aCredit()) },
    candidates: [],
    candidatesLeftOut: 0,
    otherAdvertisersCandidates: 0,
    ...changes,
  }
}

const tell = (line: OwnLine, profile: AttributionProfile = both, currency = 'GBP') =>
  `${creditedTo({ line, profile })}: ${tellCredit({ line, names, currency, profile })}`

const creditedBy = (credit: Credit): OwnLine['credits'] => ({
  CLK_14_DAYS: nobody,
  IMP_1_DAY: nobody,
  [both]: yours(credit),
})

test('the sentence says what was bought, for how much, and which ad was clicked or seen when, under every rule', () => {
  const cases: readonly (readonly [OwnLine, string])[] = [
    [
      aLine(),
      'Credited to you: Espresso pods, bought 2 for £33.06, because the shopper clicked your ad in Spring offers › Search 32 min before.',
    ],
    [
      aLine({ credits: creditedBy(aCredit({ rule: 'in-group', gtin: 'beans' })) }),
      'Credited to you: Espresso pods, bought 2 for £33.06, because the shopper clicked your ad for Beans, a product of the same group, in Spring offers › Search 32 min before.',
    ],
    [
      aLine({ credits: creditedBy(aCredit({ rule: 'view' })), boughtQuantity: 1, quantity: 1 }),
      'Credited to you: Espresso pods, bought 1 for £33.06, because the shopper saw your ad in Spring offers › Search 32 min before.',
    ],
    [
      aLine({ boughtValue: '0.00', value: '0.00' }),
      'Credited to you: Espresso pods, bought 2 for £0.00, because the shopper clicked your ad in Spring offers › Search 32 min before.',
    ],
  ]
  for (const [line, sentence] of cases) assert.equal(tell(line), sentence)
})

test('a product is called as in the market of the ad, and what the catalog does not know by its id', () => {
  const elsewhere = aLine({ credits: creditedBy(aCredit({ marketId: 2 })) })
  assert.match(tell(elsewhere), /Kapseln, bought/u)
  const unknown = aLine({
    gtin: '4711',
    credits: creditedBy(aCredit({ campaignId: 9, adGroupId: 8 })),
  })
  assert.match(tell(unknown), /4711, bought .* in campaign 9 › ad group 8 32 min before/u)
})

test('amounts have the digits of their currency', () => {
  assert.match(tell(aLine({ boughtValue: '5' }), both, 'JPY'), /for JP¥5,|for ¥5,/u)
  assert.match(tell(aLine({ boughtValue: '5.250' }), both, 'KWD'), /5\.250,/u)
})

test('under an attribution that credits somebody else or nobody the reader learns so, and which one credits them, never whom', () => {
  const credits = { CLK_14_DAYS: another, IMP_1_DAY: yours(aCredit()), [both]: another }
  assert.match(
    tell(aLine({ credits })),
    /^Credited to another advertiser: Espresso pods: .* “Impressions 1 day”/u
  )
  assert.match(tell(aLine(), 'IMP_1_DAY'), /^Credited to nobody: .* “Clicks 14 days, impr/u)
})

const tellRest = (rest: number, value: string) =>
  tellReturns({ bought: 3, rest, value, currency: 'GBP' })

test('what was sent back is told whole, in part, and not at all where nothing was', () => {
  assert.equal(tellRest(3, '49.59'), null)
  assert.equal(tellRest(2, '33.06'), '1 of 3 were sent back: 2 for £33.06 still count.')
  assert.equal(tellRest(0, '0.00'), 'All of it was sent back, so nothing of it counts any more.')
})

test('the timeline goes from seen to returned, and says of each touchpoint what became of it', () => {
  const { rule: _rule, ...ad } = aCredit()
  const outcomes = { CLK_14_DAYS: 'won', IMP_1_DAY: 'not-in-profile', [both]: 'won' } as const
  const click = {
    ...ad,
    kind: 'click',
    groupId: '',
    rule: 'direct',
    outsideMs: 0,
    outcomes,
  } as const
  const view = {
    ...click,
    kind: 'view',
    rule: 'view',
    touchedAt: '2026-11-12T11:27:00.000Z',
    outcomes: { CLK_14_DAYS: 'not-in-profile', IMP_1_DAY: 'won', [both]: 'click-preferred' },
  } as const
  const atOnce = { ...click, servedAdId: 'ad-0', touchedAt: purchasedAt } as const
  const line = aLine({
    candidates: [atOnce, click, view],
    returns: [{ returnedAt: '2026-11-20T09:00:00.000Z', quantity: 1 }],
  })

  const events = eventsOf(line, both, purchasedAt)

  assert.deepEqual(
    events.map(({ kind, outcome, units }) => [kind, outcome, units]),
    [
      ['view', 'click-preferred', 0],
      ['click', 'won', 0],
      ['click', 'won', 0],
      ['purchase', null, 0],
      ['return', null, 1],
    ]
  )
})

test('touchpoints that are not listed any more, as after an erasure, are told where they earn the line', () => {
  const seen = aCredit({ rule: 'view', servedAdId: 'ad-2', touchedAt: '2026-11-12T11:00:00.000Z' })
  const line = aLine({
    credits: { CLK_14_DAYS: yours(aCredit()), IMP_1_DAY: yours(seen), [both]: yours(aCredit()) },
  })
  const told = (profile: AttributionProfile) =>
    eventsOf(line, profile, purchasedAt).map(({ kind, outcome }) => [kind, outcome])

  assert.deepEqual(told(both), [
    ['view', 'click-preferred'],
    ['click', 'won'],
    ['purchase', null],
  ])
  assert.deepEqual(told('CLK_14_DAYS')[0], ['view', 'not-in-profile'])
  assert.deepEqual(told('IMP_1_DAY').slice(0, 2), [
    ['view', 'won'],
    ['click', 'not-in-profile'],
  ])
})

test('every reason why a touchpoint earns nothing has words of its own', () => {
  for (const kind of ['click', 'view'] as const) {
    const words = lossReasons.map((reason) => lossWords(reason, kind))
    assert.equal(new Set(words).size, lossReasons.length)
  }
})
