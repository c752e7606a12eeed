import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { nanosOf, printAmount, printRatio } from '../../scripts/demo/decimal.ts'
import {
  expectReports,
  type AdEventKind,
  type AdFire,
  type ExpectedRow,
  type Profile,
  type ServedAd,
} from '../../scripts/demo/expectation.ts'
import {
  productKey,
  type Delivery,
  type PurchaseLine,
  type Return,
} from '../../scripts/demo/sales.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const noonMs = Date.UTC(2026, 2, 2, 12)

let adCount = 0

function anAd(changes: Partial<ServedAd> = {}): ServedAd {
  adCount += 1
  return {
    servedAdId: `00000000-0000-4000-8000-${String(adCount).padStart(12, '0')}`,
    servedAtMs: noonMs,
    publisherId: 10,
    marketId: 1,
    advertiserId: 1,
    campaignId: 1001,
    adGroupId: 5001,
    gtin: '4006381333931',
    groupId: 'G1',
    userId: 'u1',
    costPerClick: '0.25',
    costPerMille: '4',
    ...changes,
  }
}

function aFire(kind: AdEventKind, ad: ServedAd, changes: Partial<AdFire> = {}): AdFire {
  return { kind, ad, atMs: ad.servedAtMs + 1_000, visitor: 'person', ...changes }
}

function aLine(changes: Partial<PurchaseLine> = {}): PurchaseLine {
  return { gtin: '4006381333931', groupId: 'G1', price: '10', quantity: 1, ...changes }
}

function aDelivery(changes: Partial<Delivery> = {}): Delivery {
  return {
    publisherId: 10,
    transactionId: 't1',
    userId: 'u1',
    lines: [aLine()],
    atMs: noonMs + hourMs,
    ...changes,
  }
}

function aReturn(quantity: number, changes: Partial<Return> = {}): Return {
  return {
    publisherId: 10,
    transactionId: 't1',
    returnId: 'r1',
    lines: [{ gtin: '4006381333931', quantity }],
    atMs: noonMs + 2 * hourMs,
    ...changes,
  }
}

interface Case {
  readonly fires: readonly AdFire[]
  readonly deliveries?: readonly Delivery[]
  readonly returns?: readonly Return[]
  readonly profile?: Profile
}

function rowsOf(given: Case) {
  const { fires, deliveries = [], returns = [], profile = 'IMP_1_DAY_CLK_14_DAYS' } = given
  return expectReports({ fires, deliveries, returns }).get(profile) ?? []
}

function onlyRow(given: Case): ExpectedRow {
  const rows = rowsOf(given)
  const [row] = rows
  assert.ok(row !== undefined && rows.length === 1, `${rows.length} rows`)
  return row
}

/** Units by ad group: who got the credit. */
function unitsByAdGroup(given: Case): Record<number, number> {
  return Object.fromEntries(
    rowsOf(given)
      .filter(({ units }) => units > 0)
      .map(({ adGroupId, units }) => [adGroupId, units])
  )
}

function counts(kind: AdEventKind, ageMs: number): boolean {
  const ad = anAd()
  return rowsOf({ fires: [aFire(kind, ad, { atMs: ad.servedAtMs + ageMs })] }).length === 1
}

function isCreditedAfter(kind: AdEventKind, elapsedMs: number): boolean {
  const fire = aFire(kind, anAd())
  const deliveries = [aDelivery({ atMs: fire.atMs + elapsedMs })]
  return onlyRow({ fires: [fire], deliveries }).units === 1
}

describe('what the demo expects of returns', () => {
  const fires = [aFire('click', anAd())]
  const deliveries = [
    aDelivery({ lines: [aLine({ quantity: 3 }), aLine({ quantity: 2, price: '7' })] }),
  ]
  const left = (...returns: readonly Return[]) => {
    const { conversions, units, valueNanos } = onlyRow({ fires, deliveries, returns })
    return `${conversions}: ${units} for ${printAmount(valueNanos, 0)}`
  }

  it('takes units from the lines in order, at their own prices, and never more than there are', () => {
    assert.equal(left(), '1: 5 for 44')
    assert.equal(left(aReturn(2)), '1: 3 for 24')
    assert.equal(left(aReturn(4)), '1: 1 for 7')
    assert.equal(left(aReturn(9)), '1: 0 for 0')
  })

  it('adds up the returns of a purchase, each by its earliest delivery', () => {
    const again = aReturn(9, { atMs: noonMs + 3 * hourMs })
    assert.equal(left(again, aReturn(1), again), '1: 4 for 34')
    assert.equal(left(aReturn(1), aReturn(1, { returnId: 'r2' })), '1: 3 for 24')
  })

  it('knows the purchase by publisher and transaction and the product in any spelling', () => {
    assert.equal(left(aReturn(1, { transactionId: 'T1' })), '1: 5 for 44')
    assert.equal(left(aReturn(1, { publisherId: 11 })), '1: 5 for 44')
    assert.equal(
      left(aReturn(1, { lines: [{ gtin: '04006381333931 ', quantity: 1 }] })),
      '1: 4 for 34'
    )
  })
})

describe('what the demo expects of events', () => {
  it('counts one load, one view and one click of a served ad, however often they are fired', () => {
    const ad = anAd()
    const kinds = ['load', 'impression', 'click'] as const

    const row = onlyRow({ fires: [...kinds, ...kinds, ...kinds].map((kind) => aFire(kind, ad)) })

    assert.deepEqual([row.loads, row.impressions, row.clicks], [1, 1, 1])
  })

  it('charges a counted click its price and a counted view a thousandth of the price of a thousand', () => {
    const ad = anAd({ costPerClick: '0.25', costPerMille: '4.350001' })

    const row = onlyRow({ fires: [aFire('click', ad), aFire('impression', ad), aFire('load', ad)] })

    assert.equal(row.spendNanos, 254_350_001n)
  })

  for (const visitor of ['bot', 'prefetch', 'probe'] as const) {
    it(`does not count a ${visitor}, and counts the person after it`, () => {
      const ad = anAd()
      const fires = [aFire('click', ad, { visitor })]

      assert.deepEqual(rowsOf({ fires }), [])
      assert.equal(onlyRow({ fires: [...fires, aFire('click', ad)] }).clicks, 1)
    })
  }

  it('counts a view for 24 hours and a click for 7 days after the ad was served, ends included', () => {
    assert.deepEqual([counts('impression', dayMs), counts('impression', dayMs + 1)], [true, false])
    assert.deepEqual([counts('load', dayMs), counts('load', dayMs + 1)], [true, false])
    assert.deepEqual([counts('click', 7 * dayMs), counts('click', 7 * dayMs + 1)], [true, false])
  })

  it('counts an event up to 5 minutes before its ad was served and none before that', () => {
    assert.deepEqual([counts('click', -300_000), counts('click', -300_001)], [true, false])
  })

  it('keeps markets, publishers, campaigns, ad groups and products in rows of their own', () => {
    const ads = [
      anAd(),
      anAd({ marketId: 2 }),
      anAd({ publisherId: 20 }),
      anAd({ campaignId: 1002 }),
      anAd({ adGroupId: 5002 }),
      anAd({ gtin: 'other' }),
      anAd({ gtin: '04006381333931' }),
    ]

    assert.equal(rowsOf({ fires: ads.map((ad) => aFire('load', ad)) }).length, 6)
  })
})

describe('what the demo expects of purchases', () => {
  it('credits units, value and one conversion to the clicked ad', () => {
    const lines = [aLine({ price: '19.995', quantity: 3 }), aLine({ price: '0', quantity: 2 })]

    const row = onlyRow({
      fires: [aFire('click', anAd())],
      deliveries: [aDelivery({ lines })],
    })

    assert.deepEqual([row.conversions, row.units, row.valueNanos], [1, 5, 59_985_000_000n])
  })

  it('prefers a direct click to a later click in the group, and the latest of several', () => {
    const early = aFire('click', anAd({ adGroupId: 1 }), { atMs: noonMs + 1 })
    const late = aFire('click', anAd({ adGroupId: 2 }), { atMs: noonMs + 2 })
    const group = aFire('click', anAd({ adGroupId: 3, gtin: 'sibling' }), { atMs: noonMs + 3 })
    const deliveries = [aDelivery()]

    assert.deepEqual(unitsByAdGroup({ fires: [late, early, group], deliveries }), { 2: 1 })
    assert.deepEqual(unitsByAdGroup({ fires: [group, early], deliveries }), { 1: 1 })
    assert.deepEqual(unitsByAdGroup({ fires: [group], deliveries }), { 3: 1 })
  })

  it('breaks a tie by the greater id of the served ad', () => {
    const fires = [1, 2].map((adGroupId) => aFire('click', anAd({ adGroupId })))

    assert.deepEqual(unitsByAdGroup({ fires, deliveries: [aDelivery()] }), { 2: 1 })
  })

  it('credits no group when one of the two names none', () => {
    const { groupId, ...nameless } = anAd({ gtin: 'sibling' })
    assert.equal(groupId, 'G1')
    const line: PurchaseLine = { gtin: '4006381333931', price: '10', quantity: 1 }
    const deliveries = [aDelivery({ lines: [line] })]

    const units = (ad: ServedAd) => unitsByAdGroup({ fires: [aFire('click', ad)], deliveries })

    assert.deepEqual(units(nameless), {})
    assert.deepEqual(units(anAd({ gtin: 'sibling', groupId: '' })), {})
  })

  it('credits views to the same product only, and only where there is no click', () => {
    const seen = aFire('impression', anAd({ adGroupId: 1 }), { atMs: noonMs + 9 })
    const clicked = aFire('click', anAd({ adGroupId: 2 }), { atMs: noonMs + 1 })
    const sibling = aFire('impression', anAd({ adGroupId: 3, gtin: 'sibling' }))
    const given = { fires: [seen, clicked, sibling], deliveries: [aDelivery()] }

    assert.deepEqual(unitsByAdGroup({ ...given, profile: 'IMP_1_DAY_CLK_14_DAYS' }), { 2: 1 })
    assert.deepEqual(unitsByAdGroup({ ...given, profile: 'CLK_14_DAYS' }), { 2: 1 })
    assert.deepEqual(unitsByAdGroup({ ...given, profile: 'IMP_1_DAY' }), { 1: 1 })
    assert.deepEqual(unitsByAdGroup({ ...given, fires: [seen, sibling] }), { 1: 1 })
  })

  it('credits clicks for 14 days, views for 24 hours, and nothing that came after the purchase', () => {
    assert.deepEqual(
      [0, 14 * dayMs, 14 * dayMs + 1, -1].map((elapsedMs) => isCreditedAfter('click', elapsedMs)),
      [true, true, false, false]
    )
    assert.deepEqual(
      [0, dayMs, dayMs + 1, -1].map((elapsedMs) => isCreditedAfter('impression', elapsedMs)),
      [true, true, false, false]
    )
    assert.equal(isCreditedAfter('load', 1), false)
  })

  it('takes the earliest delivery of a transaction as a whole, whatever the others contain', () => {
    const deliveries = [
      aDelivery({ atMs: noonMs + 9_000, lines: [aLine({ quantity: 7 })] }),
      aDelivery({ atMs: noonMs + 8_000, lines: [aLine({ quantity: 0 })] }),
      aDelivery({ atMs: noonMs + 9_000, publisherId: 20 }),
    ]

    assert.equal(onlyRow({ fires: [aFire('click', anAd())], deliveries }).units, 0)
  })

  it('takes each delivery without a transaction id as a purchase of its own', () => {
    const nameless = aDelivery({ transactionId: '' })

    const row = onlyRow({ fires: [aFire('click', anAd())], deliveries: [nameless, nameless] })

    assert.deepEqual([row.conversions, row.units], [2, 2])
  })

  it('leaves out lines without quantity, below zero or above a million millions', () => {
    const lines = [
      aLine({ quantity: 0 }),
      aLine({ quantity: -2 }),
      aLine({ price: '-0.01' }),
      aLine({ price: '500000000000.1', quantity: 2 }),
      aLine({ price: '500000000000', quantity: 2 }),
    ]

    const row = onlyRow({ fires: [aFire('click', anAd())], deliveries: [aDelivery({ lines })] })

    assert.deepEqual([row.units, row.valueNanos], [2, 10n ** 21n])
  })
})

describe('whom the demo takes for one person', () => {
  type Ids = Pick<Delivery, 'userId' | 'userLoggedInId'>

  const isCredited = (shown: Ids, bought: Ids, publisherId = 10) =>
    onlyRow({
      fires: [aFire('click', anAd(shown))],
      deliveries: [aDelivery({ ...bought, publisherId })],
    }).units === 1

  it('knows a person by the login on any device, and by the user id where no logins disagree', () => {
    assert.equal(
      isCredited({ userId: 'a', userLoggedInId: 'l' }, { userId: 'b', userLoggedInId: 'l' }),
      true
    )
    assert.equal(isCredited({ userId: 'a' }, { userId: 'a', userLoggedInId: 'l' }), true)
    assert.equal(isCredited({ userId: 'a', userLoggedInId: 'l' }, { userId: 'a' }), true)
    assert.equal(isCredited({ userId: 'a' }, { userId: 'b' }), false)
  })

  it('keeps two logins on one tablet apart', () => {
    assert.equal(
      isCredited({ userId: 'a', userLoggedInId: 'l' }, { userId: 'a', userLoggedInId: 'm' }),
      false
    )
  })

  it('takes the same id at two publishers for two people', () => {
    assert.equal(isCredited({ userId: 'a' }, { userId: 'a' }, 20), false)
  })

  it('takes no placeholder for a person or for a login', () => {
    for (const userId of ['', 'Guest', 'NULL', '0', '00000000-0000-0000-0000-000000000000']) {
      assert.equal(isCredited({ userId }, { userId }), false, userId)
    }
    assert.equal(
      isCredited({ userId: 'a', userLoggedInId: 'null' }, { userId: 'a', userLoggedInId: 'l' }),
      true
    )
  })
})

describe('what the demo compares', () => {
  it('takes the forms of one GTIN for one product and other texts as they are', () => {
    assert.equal(productKey(' 4006381333931 '), productKey('04006381333931'))
    assert.equal(productKey('12345670'), '00000012345670')
    assert.notEqual(productKey('123456789'), productKey('00000123456789'))
    assert.notEqual(productKey('sku-1'), productKey('SKU-1'))
  })

  it('prints amounts exactly, ratios with one rounding, half to even, and nothing over zero', () => {
    assert.equal(printAmount(nanosOf('0.12'), 2), '0.12')
    assert.equal(printAmount(nanosOf('0.125'), 2), '0.125000000')
    assert.equal(printAmount(nanosOf('1234'), 0), '1234')
    assert.equal(printAmount(nanosOf('1234.5'), 0), '1234.500000000')
    assert.equal(printRatio({ over: 1n, under: 8n, digits: 2 }), '0.12')
    assert.equal(printRatio({ over: 3n, under: 8n, digits: 2 }), '0.38')
    assert.equal(printRatio({ over: 1n, under: 3n, digits: 6 }), '0.333333')
    assert.equal(printRatio({ over: 1n, under: 0n, digits: 6 }), '')
  })
})
