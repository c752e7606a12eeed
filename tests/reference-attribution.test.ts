// The reference implementation is the yardstick of the SQL, so it is itself held by literal
// outcomes, by laws, and by proof that the generated histories reach the corners of the rules.
/* oxlint-disable max-lines -- One yardstick, one file: the laws and counts use the same builders. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import fc from 'fast-check'

import { generateHistory, seededRandom } from './helpers/history.ts'

import type {
  History,
  HistoryAd,
  HistoryDelivery,
  HistoryEvent,
  HistoryLine,
  HistoryReturn,
} from './helpers/history.ts'
import {
  attributeHistory,
  countEvents,
  priceNanos,
  referenceReport,
  verdictOf,
} from './helpers/reference-attribution.ts'
import type { Credit, Profile, PurchaseResult } from './helpers/reference-attribution.ts'

const MINUTE = 60_000
const HOUR = 3_600_000
const DAY = 86_400_000
const NOON = Date.UTC(2026, 4, 20, 12)
const profiles = ['CLK_14_DAYS', 'IMP_1_DAY', 'IMP_1_DAY_CLK_14_DAYS'] as const
const juice = '4012345678901'

/** A readable short name becomes an id whose order is the order of the names. */
function id(name: string): string {
  return Buffer.from(name).toString('hex').padEnd(32, '0')
}

function anAd(name: string, fields: Partial<HistoryAd> = {}): HistoryAd {
  return {
    servedAdId: id(name),
    servedAtMs: NOON - HOUR,
    publisherId: 7,
    siteId: 71,
    marketId: 1,
    advertiserId: 5,
    campaignId: 50,
    adGroupId: 500,
    gtin: juice,
    groupId: 'Juices',
    userId: 'kim-phone',
    userLoggedInId: '',
    currency: 'EUR',
    costPerClickMicros: 250_000n,
    costPerMilleMicros: 3_000_001n,
    ...fields,
  }
}

function anEvent(ad: HistoryAd, fields: Partial<HistoryEvent> = {}): HistoryEvent {
  const receivedAtMs = ad.servedAtMs
  return { ad, kind: 'click', receivedAtMs, userAgent: '', prefetch: false, ...fields }
}

/** An ad that was touched at the instant at which it was served. */
function touchAt(name: string, atMs: number, fields: Partial<HistoryAd> = {}): HistoryEvent {
  return anEvent(anAd(name, { servedAtMs: atMs, ...fields }))
}

function viewAt(name: string, atMs: number, fields: Partial<HistoryAd> = {}): HistoryEvent {
  return { ...touchAt(name, atMs, fields), kind: 'impression' }
}

function aLine(fields: Partial<HistoryLine> = {}): HistoryLine {
  return { gtin: juice, groupId: 'Juices', brand: 'Acme', price: 2.49, quantity: 1, ...fields }
}

function aDelivery(fields: Partial<HistoryDelivery> = {}): HistoryDelivery {
  return {
    deliveryId: id(fields.transactionId ?? 'order'),
    receivedAtMs: NOON,
    publisherId: 7,
    siteId: 71,
    transactionId: 'order',
    userId: 'kim-phone',
    userLoggedInId: '',
    currency: 'EUR',
    lines: [aLine()],
    untrusted: false,
    voided: false,
    ...fields,
  }
}

function aHistory(events: HistoryEvent[], ...deliveries: HistoryDelivery[]): History {
  return { publisherId: 7, events, deliveries, returns: [] }
}

function nameOf(credit: Credit | null | undefined): string {
  if (credit === null || credit === undefined) return 'none'
  return `${Buffer.from(credit.servedAdId.replace(/(00)+$/, ''), 'hex').toString()} ${credit.rule}`
}

/** Credits of every line, one text per purchase: `ad rule` or `none` per line, joined by commas. */
function creditsIn(history: History, profile: Profile = 'IMP_1_DAY_CLK_14_DAYS'): string[] {
  return attributeHistory(history).map(({ lines }) =>
    lines.map(({ credits }) => nameOf(credits[profile])).join(', ')
  )
}

function creditOf(events: HistoryEvent[], delivery: Partial<HistoryDelivery> = {}): string {
  return creditsIn(aHistory(events, aDelivery(delivery))).join(' | ')
}

function creditsByProfile(events: HistoryEvent[]): string[] {
  return profiles.map((profile) => creditsIn(aHistory(events, aDelivery()), profile).join())
}

function isSameProduct(ad: string, line: string): boolean {
  const click = touchAt('a', NOON, { gtin: ad, groupId: '' })
  return creditOf([click], { lines: [aLine({ gtin: line })] }) === 'a direct'
}

function joins(touch: [string, string], purchase: [string, string]): boolean {
  const event = touchAt('a', NOON, { userId: touch[0], userLoggedInId: touch[1] })
  return creditOf([event], { userId: purchase[0], userLoggedInId: purchase[1] }) === 'a direct'
}

/** Views of other products by as many people on one device. */
function crowdAt(atMs: number, count: number): HistoryEvent[] {
  return Array.from({ length: count }, (_, index) =>
    viewAt(`z${index}`, atMs, { userId: 'kiosk', userLoggedInId: `${index}`, gtin: 'other' })
  )
}

function winnersOf(...deliveries: HistoryDelivery[]): string[] {
  return attributeHistory(aHistory([], ...deliveries)).map((purchase) => purchase.deliveryId)
}

function verdictAt(kind: HistoryEvent['kind'], ageMs: number): string {
  const ad = anAd('a')
  return verdictOf(anEvent(ad, { kind, receivedAtMs: ad.servedAtMs + ageMs }))
}

const reportOptions = {
  profile: 'CLK_14_DAYS',
  advertiserId: 5,
  dayOf: (_marketId: number, ms: number) => new Date(ms).toISOString().slice(0, 10),
  fromDay: '2026-01-01',
  toDay: '2026-12-31',
  dateBreakdown: false,
} as const

describe('windows', () => {
  test('a click earns credit to exactly 14 days before the purchase and not a millisecond more', () => {
    assert.equal(creditOf([touchAt('a', NOON - 14 * DAY)]), 'a direct')
    assert.equal(creditOf([touchAt('a', NOON - 14 * DAY - 1)]), 'none')
  })

  test('a view earns credit to exactly 24 hours before the purchase and not a millisecond more', () => {
    assert.equal(creditOf([viewAt('a', NOON - DAY)]), 'a view')
    assert.equal(creditOf([viewAt('a', NOON - DAY - 1)]), 'none')
  })

  test('a touch in the millisecond of the purchase earns credit, a later one does not', () => {
    assert.equal(creditOf([touchAt('a', NOON)]), 'a direct')
    assert.equal(creditOf([viewAt('a', NOON)]), 'a view')
    assert.equal(creditOf([touchAt('a', NOON + 1), viewAt('b', NOON + 1)]), 'none')
  })

  // P004.
  test('a day is 24 hours of elapsed time, never a calendar day', () => {
    const midnight = Date.UTC(2026, 4, 20)

    const near = creditOf([viewAt('a', midnight - MINUTE)], { receivedAtMs: midnight + MINUTE })
    const far = creditOf([viewAt('a', midnight)], { receivedAtMs: midnight + 2 * DAY - MINUTE })

    assert.deepEqual([near, far], ['a view', 'none'])
  })

  // P007.
  test('one click earns every purchase within its window', () => {
    const orders = [1, 8, 14, 15].map((day) =>
      aDelivery({ transactionId: `order-${day + 10}`, receivedAtMs: NOON + day * DAY })
    )

    const credits = creditsIn(aHistory([touchAt('a', NOON)], ...orders))

    assert.deepEqual(credits, ['a direct', 'a direct', 'a direct', 'none'])
  })
})

describe('candidates and their order', () => {
  test('an earlier direct click beats a later click in the group', () => {
    const events = [touchAt('a', NOON - 9 * DAY), touchAt('b', NOON, { gtin: 'other' })]

    assert.equal(creditOf(events), 'a direct')
    assert.equal(creditOf(events.slice(1)), 'b in-group')
  })

  // P005.
  test('of two direct clicks the latest takes the sale in full and the other nothing', () => {
    const events = [
      touchAt('b', NOON - 2 * HOUR, { campaignId: 51 }),
      touchAt('a', NOON - HOUR, { campaignId: 52 }),
    ]
    const history = aHistory(events, aDelivery({ lines: [aLine({ price: 40, quantity: 2 })] }))

    const rows = referenceReport(history, reportOptions)

    assert.equal(creditsIn(history).join(), 'a direct')
    assert.deepEqual(
      rows.map((row) => [row.campaignId, row.conversions, row.conversionValueNanos]),
      [
        [51, 0, 0n],
        [52, 1, 80_000_000_000n],
      ]
    )
  })

  test('of touches in one millisecond the greater served ad id wins', () => {
    assert.equal(creditOf([touchAt('b', NOON), touchAt('a', NOON)]), 'b direct')
    assert.equal(creditOf([viewAt('a', NOON), viewAt('b', NOON)]), 'b view')
  })

  test('each profile takes its own best touch, the combined one a view only without a click', () => {
    const view = viewAt('v', NOON - 1)
    const click = touchAt('c', NOON - 13 * DAY)

    assert.deepEqual(creditsByProfile([view, click]), ['c direct', 'v view', 'c direct'])
    assert.deepEqual(creditsByProfile([view]), ['none', 'v view', 'v view'])
    assert.deepEqual(creditsByProfile([click]), ['c direct', 'none', 'c direct'])
    assert.deepEqual(creditsByProfile([{ ...click, kind: 'load' }]), ['none', 'none', 'none'])
  })

  test('a view never earns within a group, and a group is equal by its exact, non-empty text', () => {
    const inGroup = (ad: string, line: string) =>
      creditOf([touchAt('a', NOON, { gtin: 'other', groupId: ad })], {
        lines: [aLine({ groupId: line })],
      })

    assert.equal(creditOf([viewAt('a', NOON, { gtin: 'other' })]), 'none')
    assert.equal(inGroup('Juices', 'Juices'), 'a in-group')
    assert.equal(inGroup('Juices', 'juices'), 'none')
    assert.equal(inGroup('Juices', 'Juices '), 'none')
    assert.equal(inGroup('', ''), 'none')
  })

  // P006.
  test('credit follows the product or its group, never the basket', () => {
    const lines = [
      aLine(),
      aLine({ gtin: '5012345678900' }),
      aLine({ gtin: '1', groupId: 'Tools' }),
    ]

    assert.equal(creditOf([touchAt('a', NOON)], { lines }), 'a direct, a in-group, none')
  })

  test('GTINs are equal after trimming and padding, everything else by exact text', () => {
    assert.ok(isSameProduct('12345670', '00000012345670'))
    assert.ok(isSameProduct('012345678905', '0012345678905'))
    assert.ok(isSameProduct(' \t012345678905\r\n', '00012345678905'))
    assert.ok(isSameProduct(' SKU-1', 'SKU-1 '))
    assert.ok(!isSameProduct('SKU-1', 'sku-1'))
    assert.ok(!isSameProduct('1234567890', '01234567890'))
    assert.ok(!isSameProduct('12345670', '012345670'))
    assert.ok(!isSameProduct('\u00a012345670', '12345670'))
    assert.ok(!isSameProduct('١٢٣٤٥٦٧٠', '000000١٢٣٤٥٦٧٠'))
  })

  test('a line without a GTIN is never attributed, not even within its group', () => {
    const lines = [aLine({ gtin: '' }), aLine({ gtin: ' \t ' })]

    assert.equal(
      creditOf([touchAt('a', NOON), touchAt('b', NOON, { gtin: '' })], { lines }),
      'none, none'
    )
  })

  // P014.
  test('a line out of range is never attributed, a price of zero is a sale of value zero', () => {
    const amounts = [
      [0, 3, false],
      [-0, 3, false],
      [-0.01, 1, true],
      [5, 0, true],
      [5, -1, true],
      [1e12, 1, false],
      [250_000_000_000, 4, false],
      [1_000_000_000_000.01, 1, true],
      [250_000_000_000.0001, 4, true],
    ] as const
    const lines = amounts.map(([price, quantity]) => aLine({ price, quantity }))

    const [purchase] = attributeHistory(aHistory([touchAt('a', NOON)], aDelivery({ lines })))

    const outcomes = purchase?.lines.map((line) => [
      line.outOfRange,
      nameOf(line.credits.CLK_14_DAYS),
    ])
    assert.deepEqual(
      outcomes,
      amounts.map(([, , outOfRange]) => [outOfRange, outOfRange ? 'none' : 'a direct'])
    )
  })

  test('a touch with another publisher earns nothing', () => {
    assert.equal(creditOf([touchAt('a', NOON, { publisherId: 8 })]), 'none')
  })
})

describe('identity', () => {
  // P008.
  test('one person is joined by a shared login or by a shared device', () => {
    assert.ok(joins(['phone', 'kim'], ['laptop', 'kim']))
    assert.ok(joins(['phone', ''], ['phone', 'kim']))
    assert.ok(joins(['phone', 'kim'], ['phone', '']))
    assert.ok(!joins(['phone', ''], ['laptop', '']))
    assert.ok(!joins(['Phone', ''], ['phone', '']))
  })

  test('two different logins on one device are two people', () => {
    assert.ok(!joins(['tablet', 'kim'], ['tablet', 'lee']))
    assert.ok(joins(['tablet', 'kim'], ['tablet', 'GUEST']))
  })

  test('a login and a device of one text are not one identity', () => {
    assert.ok(!joins(['kim', ''], ['phone', 'kim']))
    assert.ok(!joins(['phone', 'kim'], ['kim', '']))
  })

  // P009.
  test('a placeholder in any case joins nobody, and a text that merely contains one does', () => {
    const words = ['', 'undefined', 'NULL', 'None', '0', '-1', 'Anonymous', 'guest', 'UNKNOWN']
    for (const word of [...words, '00000000-0000-0000-0000-000000000000']) {
      assert.ok(!joins(['phone', word], ['laptop', word]), `login ${word}`)
      assert.ok(!joins([word, ''], [word, '']), `user ${word}`)
    }
    assert.ok(joins(['guest1', ''], ['guest1', '']))
    assert.ok(joins(['00', ''], ['00', '']))
  })

  test('an id of the purchase with more touches than a person has is absent from the purchase', () => {
    const creditAt = (others: HistoryEvent[], delivery: Partial<HistoryDelivery>) => {
      const click = touchAt('a', NOON, { userId: 'kiosk' })
      const history = aHistory([click, ...others], aDelivery({ userId: 'kiosk', ...delivery }))
      return nameOf(attributeHistory(history, { crowdMax: 3 })[0]?.lines[0]?.credits.CLK_14_DAYS)
    }

    assert.equal(creditAt(crowdAt(NOON, 2), {}), 'a direct')
    assert.equal(creditAt(crowdAt(NOON, 3), {}), 'none')
    assert.equal(creditAt(crowdAt(NOON + 1, 3), {}), 'a direct')
    assert.equal(creditAt(crowdAt(NOON - 15 * DAY, 3), {}), 'none')
    assert.equal(creditAt(crowdAt(NOON - 15 * DAY - 1, 3), {}), 'a direct')
  })

  test('a crowd is more than 5,000 clicks and views with the publisher, whatever else there is', () => {
    const isJoined = (others: HistoryEvent[]): boolean => {
      const click = touchAt('a', NOON, { userId: 'kiosk' })
      return creditOf([click, ...others], { userId: 'kiosk' }) === 'a direct'
    }
    const views = crowdAt(NOON, 5_000)
    const elsewhere = views.map(({ ad }) => viewAt(ad.servedAdId, NOON, { ...ad, publisherId: 8 }))

    assert.ok(isJoined(views.slice(1)))
    assert.ok(isJoined([...views.slice(1), ...views.slice(1)]))
    assert.ok(!isJoined(views))
    assert.ok(isJoined(views.map(({ ad }) => anEvent(ad, { kind: 'load' }))))
    assert.ok(isJoined(elsewhere))
  })

  test('a login that is a crowd no longer makes two people of one device', () => {
    const shared = Array.from({ length: 4 }, (_, index) =>
      viewAt(`z${index}`, NOON, { userId: `till-${index}`, userLoggedInId: 'staff' })
    )
    const click = touchAt('a', NOON, { userLoggedInId: 'kim' })
    const history = aHistory([click, ...shared], aDelivery({ userLoggedInId: 'staff' }))
    const creditAt = (crowdMax: number) =>
      nameOf(attributeHistory(history, { crowdMax })[0]?.lines[0]?.credits.CLK_14_DAYS)

    assert.equal(creditAt(4), 'none')
    assert.equal(creditAt(3), 'a direct')
  })
})

describe('purchases', () => {
  // P001 and P003.
  test('a purchase counts once per publisher and exact transaction id, whatever else is equal', () => {
    const one = aDelivery({ deliveryId: id('1'), transactionId: 'A' })
    const others = [
      { ...one, deliveryId: id('2'), publisherId: 8 },
      { ...one, deliveryId: id('3'), transactionId: 'a' },
      { ...one, deliveryId: id('4'), transactionId: 'A ' },
    ]
    const repeat = { ...one, deliveryId: id('5'), siteId: 72, receivedAtMs: NOON + 90 * DAY }

    assert.deepEqual(winnersOf(repeat, ...others, one), ['1', '2', '3', '4'].map(id))
  })

  // P002.
  test('each delivery without a transaction id is a purchase of its own', () => {
    const blank = ['', '', '  ', '  '].map((transactionId, index) =>
      aDelivery({ deliveryId: id(`${index}`), transactionId })
    )

    assert.deepEqual(winnersOf(...blank), ['0', '1', '2', '3'].map(id))
  })

  test('the earliest delivery wins as a whole, in one millisecond the least id', () => {
    const early = aDelivery({ deliveryId: id('b'), lines: [aLine({ gtin: 'x' }), aLine()] })
    const tied = aDelivery({ deliveryId: id('c') })
    const late = aDelivery({ deliveryId: id('a'), receivedAtMs: NOON + 1 })

    const [purchase, ...others] = attributeHistory(aHistory([], late, tied, early))

    assert.deepEqual(others, [])
    assert.deepEqual([purchase?.deliveryId, purchase?.lines.length], [id('b'), 2])
  })

  test('an untrusted or a voided delivery never wins, and one alone leaves no purchase', () => {
    const untrusted = aDelivery({ deliveryId: id('a'), untrusted: true })
    const voided = aDelivery({ deliveryId: id('b'), voided: true })
    const late = aDelivery({ deliveryId: id('c'), receivedAtMs: NOON + DAY })

    assert.deepEqual(winnersOf(untrusted, voided, late), [id('c')])
    assert.deepEqual(winnersOf(untrusted, voided), [])
  })
})

function aReturn(fields: Partial<HistoryReturn> = {}): HistoryReturn {
  return {
    deliveryId: id(fields.returnId ?? 'back'),
    returnId: 'back',
    receivedAtMs: NOON + DAY,
    publisherId: 7,
    transactionId: 'order',
    lines: [{ gtin: juice, quantity: 1 }],
    untrusted: false,
    ...fields,
  }
}

/** What remains of three lines: two of the product, in two spellings, and one that is not valid. */
function remains(...returns: HistoryReturn[]): string {
  const lines = [
    aLine({ quantity: 2, price: 5 }),
    aLine({ quantity: -1 }),
    aLine({ gtin: `0${juice} `, quantity: 3, price: 7 }),
  ]
  const history = { ...aHistory([], aDelivery({ lines })), returns }
  const [purchase] = attributeHistory(history)
  return (purchase?.lines ?? [])
    .filter(({ outOfRange }) => !outOfRange)
    .map(({ quantity, valueNanos }) => `${quantity} for ${valueNanos / 1_000_000_000n}`)
    .join(', ')
}

function taking(quantity: number): Pick<HistoryReturn, 'lines'> {
  return { lines: [{ gtin: juice, quantity }] }
}

describe('returns', () => {
  test('take units from the lines of a product in order, and never more than there are', () => {
    assert.equal(remains(), '2 for 10, 3 for 21')
    assert.equal(remains(aReturn(taking(1))), '1 for 5, 3 for 21')
    assert.equal(remains(aReturn(taking(4))), '0 for 0, 1 for 7')
    assert.equal(remains(aReturn(taking(9))), '0 for 0, 0 for 0')
    assert.equal(remains(aReturn({ lines: [{ gtin: 'tea', quantity: 1 }] })), '2 for 10, 3 for 21')
  })

  test('add up by their ids, and of one id the earliest from a trusted source counts', () => {
    const later = aReturn({ ...taking(5), deliveryId: id('b'), receivedAtMs: NOON + 2 * DAY })
    const untrusted = aReturn({
      ...taking(5),
      deliveryId: id('a'),
      receivedAtMs: 0,
      untrusted: true,
    })
    assert.equal(remains(later, aReturn(), untrusted), '1 for 5, 3 for 21')
    assert.equal(remains(aReturn(), aReturn({ returnId: 'Back' })), '0 for 0, 3 for 21')
    const sameTime = [aReturn(taking(1)), aReturn({ ...taking(2), deliveryId: id('aaa') })]
    assert.equal(remains(...sameTime), '0 for 0, 3 for 21')
  })

  test('belong to their publisher and transaction by exact text', () => {
    assert.equal(remains(aReturn({ publisherId: 8 })), '2 for 10, 3 for 21')
    assert.equal(remains(aReturn({ transactionId: 'Order' })), '2 for 10, 3 for 21')
  })
})

describe('counted events', () => {
  test('an event counts from five minutes before serving to the inclusive end of its window', () => {
    const ends = { load: DAY, impression: DAY, click: 7 * DAY } as const
    for (const kind of ['load', 'impression', 'click'] as const) {
      const ages = [-5 * MINUTE - 1, -5 * MINUTE, ends[kind], ends[kind] + 1]
      const verdicts = ages.map((ageMs) => verdictAt(kind, ageMs))
      assert.deepEqual(verdicts, ['early', 'counted', 'counted', 'expired'], kind)
    }
  })

  test('a bot and a prefetch neither count nor touch, and a missing user agent counts', () => {
    const event = touchAt('a', NOON)
    const bot = { ...event, userAgent: 'Googlebot/2.1 (+http://www.google.com/bot.html)' }
    const prefetch = { ...event, prefetch: true, receivedAtMs: NOON - DAY }

    assert.equal(verdictOf(event), 'counted')
    assert.equal(verdictOf({ ...bot, prefetch: true }), 'bot')
    assert.equal(verdictOf(prefetch), 'prefetch')
    assert.equal(creditOf([bot, prefetch]), 'none')
  })

  // P003 and P011.
  test('a served ad counts each kind once, at its earliest valid event, and its twin counts too', () => {
    const view = viewAt('a', NOON)
    const click = anEvent(view.ad, { receivedAtMs: NOON + 9 })
    const repeats = [3, 0, 1, -HOUR].map((afterMs) =>
      anEvent(view.ad, { kind: 'impression', receivedAtMs: NOON + afterMs })
    )
    const events = [...repeats, click, viewAt('b', NOON), click]

    assert.deepEqual(countEvents(aHistory(events)), [
      { servedAdId: id('a'), kind: 'click', receivedAtMs: NOON + 9 },
      { servedAdId: id('a'), kind: 'impression', receivedAtMs: NOON },
      { servedAdId: id('b'), kind: 'impression', receivedAtMs: NOON },
    ])
  })

  test('a repeated click does not move the touch into the window', () => {
    const click = touchAt('a', NOON - 14 * DAY - 1)

    assert.equal(creditOf([{ ...click, receivedAtMs: NOON - 9 * DAY }, click]), 'none')
  })
})

describe('report', () => {
  test('a price is the shortest decimal text of its double, rounded half even to 9 digits', () => {
    const texts = [0.1 + 0.2, 1.0000000005, 1.0000000015, 5e-10, 1.5e-9, 1e21, 19.99, -0, -2.5]

    assert.deepEqual(texts.map(priceNanos), [
      300_000_000n,
      1_000_000_000n,
      1_000_000_002n,
      0n,
      2n,
      10n ** 30n,
      19_990_000_000n,
      0n,
      -2_500_000_000n,
    ])
    assert.throws(() => priceNanos(Number.NaN), /must be finite/)
  })

  test('a sale stands with the advertised product, on the day of the purchase', () => {
    const ad = anAd('a', { gtin: '12345670', servedAtMs: NOON - DAY })
    const kinds = ['load', 'impression', 'click', 'click'] as const
    const lines = [
      aLine({ quantity: 2 }),
      aLine({ quantity: 3, price: 0.0001 }),
      aLine({ price: -1 }),
    ]
    const history = aHistory(
      kinds.map((kind) => anEvent(ad, { kind })),
      aDelivery({ lines })
    )
    const keys = { marketId: 1, publisherId: 7, campaignId: 50, adGroupId: 500 }
    const dimensions = { gtinKey: '00000012345670', ...keys }
    const touched = { loads: 1, impressions: 1, clicks: 1, adSpendNanos: 253_000_001n }
    const sold = { conversions: 1, orders: 1, unitsSold: 5n, conversionValueNanos: 4_980_300_000n }
    const idle = { loads: 0, impressions: 0, clicks: 0, adSpendNanos: 0n }
    const unsold = { conversions: 0, orders: 0, unitsSold: 0n, conversionValueNanos: 0n }

    const whole = referenceReport(history, reportOptions)
    const daily = referenceReport(history, { ...reportOptions, dateBreakdown: true })

    assert.deepEqual(whole, [{ ...dimensions, day: null, ...touched, ...sold }])
    assert.deepEqual(daily, [
      { ...dimensions, day: '2026-05-19', ...touched, ...unsold },
      { ...dimensions, day: '2026-05-20', ...idle, ...sold },
    ])
  })

  test('the range holds both of its days, in the time zone of the market of the ad', () => {
    const events = [touchAt('a', NOON - DAY), touchAt('b', NOON, { marketId: 2 })]
    const countClicks = (fromDay: string, toDay: string): number => {
      const dayOf = (marketId: number, ms: number) =>
        reportOptions.dayOf(marketId, marketId === 2 ? ms + 12 * HOUR : ms)
      const options = { ...reportOptions, dayOf, fromDay, toDay }
      return referenceReport(aHistory(events), options).reduce((sum, row) => sum + row.clicks, 0)
    }

    assert.equal(countClicks('2026-05-19', '2026-05-21'), 2)
    assert.equal(countClicks('2026-05-20', '2026-05-21'), 1)
    assert.equal(countClicks('2026-05-19', '2026-05-20'), 1)
    assert.equal(countClicks('2026-05-20', '2026-05-20'), 0)
  })

  test('a row belongs to the advertiser of the ad, and two orders in it are two conversions', () => {
    const orders = ['', 'A', 'B'].map((transactionId) => aDelivery({ transactionId }))
    const history = aHistory(
      [touchAt('a', NOON), touchAt('c', NOON, { advertiserId: 6 })],
      ...orders
    )
    const conversionsOf = (advertiserId: number) =>
      referenceReport(history, { ...reportOptions, advertiserId }).map((row) => row.conversions)

    assert.deepEqual([conversionsOf(5), conversionsOf(6), conversionsOf(9)], [[0], [3], []])
  })

  test('the report knows a crowd as the attribution does', () => {
    const history = aHistory([touchAt('a', NOON)], aDelivery())
    const options = { ...reportOptions, crowdMax: 0 }

    assert.deepEqual(
      referenceReport(history, options).map((row) => row.conversions),
      [0]
    )
  })
})

const startMs = Date.UTC(2026, 0, 31, 5)

function historyOf(seed: number): History {
  return generateHistory(seededRandom(seed), { publisherId: 7, startMs })
}

const histories = fc.integer().map(historyOf)

describe('laws', () => {
  test('attribution and counting do not depend on the order of arrival', () => {
    const shuffled = histories.chain((history) =>
      fc.record({
        history: fc.constant(history),
        events: fc.shuffledSubarray(history.events, { minLength: history.events.length }),
        deliveries: fc.shuffledSubarray(history.deliveries, {
          minLength: history.deliveries.length,
        }),
      })
    )
    fc.assert(
      fc.property(shuffled, ({ history, events, deliveries }) => {
        const arrived = { ...history, events, deliveries }
        assert.deepEqual(attributeHistory(arrived), attributeHistory(history))
        assert.deepEqual(countEvents(arrived), countEvents(history))
      })
    )
  })

  test('a touchpoint outside every window changes nothing', () => {
    fc.assert(
      fc.property(histories, fc.nat(DAY), fc.nat(), (history, awayMs, choice) => {
        const delivery = history.deliveries[choice % history.deliveries.length]
        assert.ok(delivery !== undefined)
        const { userId, userLoggedInId, publisherId } = delivery
        const instants = history.deliveries.map(({ receivedAtMs }) => receivedAtMs)
        const [firstAtMs, lastAtMs] = [Math.min(...instants), Math.max(...instants)]
        const strays = delivery.lines.flatMap(({ gtin, groupId }, index) => {
          const ad = { gtin, groupId, userId, userLoggedInId, publisherId }
          return [
            touchAt(`old ${index}`, firstAtMs - 14 * DAY - 1 - awayMs, ad),
            viewAt(`gone ${index}`, firstAtMs - DAY - 1 - awayMs, ad),
            touchAt(`late ${index}`, lastAtMs + 1 + awayMs, ad),
            viewAt(`later ${index}`, lastAtMs + 1 + awayMs, ad),
          ]
        })

        const result = attributeHistory({ ...history, events: [...history.events, ...strays] })

        assert.deepEqual(result, attributeHistory(history))
      })
    )
  })

  test('a line is credited to one counted ad or to none, and the combined profile is click else view', () => {
    fc.assert(
      fc.property(histories, (history) => {
        const counted = new Set(countEvents(history).map((event) => JSON.stringify(event)))
        for (const { lines } of attributeHistory(history)) {
          for (const { credits } of lines) {
            assert.deepEqual(Object.keys(credits).toSorted(), profiles.toSorted())
            const { CLK_14_DAYS: click, IMP_1_DAY: view, IMP_1_DAY_CLK_14_DAYS: either } = credits
            assert.deepEqual(either, click ?? view)
            assert.ok(click?.rule !== 'view' && (view === null || view.rule === 'view'))
            for (const credit of [click, view]) {
              if (credit === null) continue
              const kind = credit.rule === 'view' ? 'impression' : 'click'
              const { servedAdId, touchedAtMs: receivedAtMs } = credit
              assert.ok(counted.has(JSON.stringify({ servedAdId, kind, receivedAtMs })))
            }
          }
        }
      })
    )
  })

  test('a history that arrives twice is the history that arrived once', () => {
    fc.assert(
      fc.property(histories, (history) => {
        const twice = {
          ...history,
          events: [...history.events, ...history.events],
          deliveries: [...history.deliveries, ...history.deliveries],
        }
        assert.deepEqual(attributeHistory(twice), attributeHistory(history))
        assert.deepEqual(countEvents(twice), countEvents(history))
      })
    )
  })

  test('the rows of all advertisers add up to the credited lines and the counted events', () => {
    const property = fc.property(histories, fc.constantFrom(...profiles), (history, profile) => {
      const credited = attributeHistory(history).flatMap(({ deliveryId, lines }) => {
        const delivery = history.deliveries.find((other) => other.deliveryId === deliveryId)
        return lines.flatMap(({ lineIndex, quantity, credits }) => {
          const line = delivery?.lines[lineIndex]
          return credits[profile] === null || line === undefined ? [] : { ...line, quantity }
        })
      })
      for (const dateBreakdown of [true, false]) {
        const rows = [71, 72].flatMap((advertiserId) =>
          referenceReport(history, { ...reportOptions, profile, advertiserId, dateBreakdown })
        )
        const events = rows.reduce((sum, row) => sum + row.loads + row.impressions + row.clicks, 0)
        const value = rows.reduce((sum, row) => sum + row.conversionValueNanos, 0n)

        assert.equal(events, countEvents(history).length)
        assert.equal(
          value,
          credited.reduce((sum, line) => sum + priceNanos(line.price) * BigInt(line.quantity), 0n)
        )
      }
    })
    fc.assert(property)
  })
})

interface CreditedLine {
  readonly purchase: PurchaseResult
  readonly lineIndex: number
  readonly credit: Credit
}

/** The winning click and view of every line. */
function creditedLines(purchases: readonly PurchaseResult[]): CreditedLine[] {
  return purchases.flatMap((purchase) =>
    purchase.lines.flatMap(({ lineIndex, credits }) =>
      [credits.CLK_14_DAYS, credits.IMP_1_DAY].flatMap((credit) =>
        credit === null ? [] : [{ purchase, lineIndex, credit }]
      )
    )
  )
}

function mapAds(history: History, change: (ad: HistoryAd) => Partial<HistoryAd>): History {
  const events = history.events.map((event) =>
    anEvent(
      { ...event.ad, ...change(event.ad) },
      {
        kind: event.kind,
        receivedAtMs: event.receivedAtMs,
        userAgent: event.userAgent,
        prefetch: event.prefetch,
      }
    )
  )
  return { ...history, events }
}

function mapDeliveries(
  history: History,
  change: (delivery: HistoryDelivery) => Partial<HistoryDelivery>
): History {
  const deliveries = history.deliveries.map((delivery) =>
    aDelivery({ ...delivery, ...change(delivery) })
  )
  return { ...history, deliveries }
}

function contentOf({ lines, userId, userLoggedInId }: HistoryDelivery): string {
  return JSON.stringify([lines, userId, userLoggedInId])
}

/** The credit that would have won the line without the ad that did. */
function runnerUp(history: History, { purchase, lineIndex, credit }: CreditedLine): Credit | null {
  const events = history.events.filter((event) => event.ad.servedAdId !== credit.servedAdId)
  const without = attributeHistory({ ...history, events })
  const credits = without.find(({ deliveryId }) => deliveryId === purchase.deliveryId)?.lines[
    lineIndex
  ]?.credits
  return (credit.rule === 'view' ? credits?.IMP_1_DAY : credits?.CLK_14_DAYS) ?? null
}

function hasElapsed(lines: readonly CreditedLine[], isView: boolean, elapsedMs: number): boolean {
  return lines.some(
    ({ purchase, credit }) =>
      (credit.rule === 'view') === isView &&
      purchase.receivedAtMs - credit.touchedAtMs === elapsedMs
  )
}

/** Which situations one history holds; each is found by what it changes, not by how it was made. */
function situationsOf(history: History): Record<string, boolean> {
  const purchases = attributeHistory(history)
  const lines = purchases.flatMap((purchase) => purchase.lines)
  const credited = creditedLines(purchases)
  const runnersUp = credited.map((line) => ({ ...line, next: runnerUp(history, line) }))
  const earlier = mapDeliveries(history, ({ receivedAtMs }) => ({ receivedAtMs: receivedAtMs - 1 }))
  const later = mapDeliveries(history, ({ receivedAtMs }) => ({ receivedAtMs: receivedAtMs + 1 }))
  const anonymous = attributeHistory(mapAds(history, () => ({ userLoggedInId: '' })))
  const trusting = attributeHistory(mapDeliveries(history, () => ({ untrusted: false })))
  const deliveryOf = (deliveryId: string) =>
    history.deliveries.find((delivery) => delivery.deliveryId === deliveryId)
  const adOf = (credit: Credit) =>
    history.events.find((event) => event.ad.servedAdId === credit.servedAdId)?.ad
  const pairs = history.deliveries.flatMap((one) =>
    history.deliveries.flatMap((other) => {
      const isPair = one.transactionId.trim() !== '' && one.transactionId === other.transactionId
      return isPair && one.deliveryId < other.deliveryId ? [{ one, other }] : []
    })
  )
  const verdicts = history.events.map((event) => ({
    verdict: verdictOf(event),
    ageMs: event.receivedAtMs - event.ad.servedAtMs,
  }))
  const values = history.deliveries.flatMap((delivery) =>
    delivery.lines.map(({ price, quantity }) => price * quantity)
  )

  return {
    'tie in time decided by the served ad id': runnersUp.some(
      ({ credit, next }) => next?.rule === credit.rule && next.touchedAtMs === credit.touchedAtMs
    ),
    'click exactly at 14 days': hasElapsed(credited, false, 14 * DAY),
    // It would have won one millisecond earlier.
    'click at 14 days and 1 ms': hasElapsed(
      creditedLines(attributeHistory(earlier)),
      false,
      14 * DAY
    ),
    'view exactly at 24 hours': hasElapsed(credited, true, DAY),
    'view at 24 hours and 1 ms': hasElapsed(creditedLines(attributeHistory(earlier)), true, DAY),
    'touch 1 ms after the purchase': hasElapsed(creditedLines(attributeHistory(later)), false, 0),
    'direct beating a later in-group': runnersUp.some(
      ({ credit, next }) => next?.rule === 'in-group' && next.touchedAtMs > credit.touchedAtMs
    ),
    'in-group win': lines.some((line) => line.credits.IMP_1_DAY_CLK_14_DAYS?.rule === 'in-group'),
    'view win': lines.some((line) => line.credits.IMP_1_DAY_CLK_14_DAYS?.rule === 'view'),
    'no credit': lines.some(
      (line) => !line.outOfRange && line.credits.IMP_1_DAY_CLK_14_DAYS === null
    ),
    'two different logins refusing a join': purchases.some((purchase, at) =>
      purchase.lines.some(
        ({ credits }, index) =>
          credits.IMP_1_DAY_CLK_14_DAYS === null &&
          nameOf(anonymous[at]?.lines[index]?.credits.IMP_1_DAY_CLK_14_DAYS) !== 'none'
      )
    ),
    'join by login only': credited.some(
      ({ purchase, credit }) => adOf(credit)?.userId !== deliveryOf(purchase.deliveryId)?.userId
    ),
    'join by device only': credited.some(
      ({ purchase, credit }) =>
        adOf(credit)?.userLoggedInId !== deliveryOf(purchase.deliveryId)?.userLoggedInId
    ),
    'product spelled in two ways': credited.some(
      ({ purchase, lineIndex, credit }) =>
        credit.rule === 'direct' &&
        adOf(credit)?.gtin.trim() !== deliveryOf(purchase.deliveryId)?.lines[lineIndex]?.gtin.trim()
    ),
    'repeat with other content': pairs.some(
      ({ one, other }) => contentOf(one) !== contentOf(other)
    ),
    'tie in receipt with other content': pairs.some(
      ({ one, other }) =>
        one.receivedAtMs === other.receivedAtMs && contentOf(one) !== contentOf(other)
    ),
    'blank transaction id': history.deliveries.some(
      ({ transactionId }) => transactionId.trim() === ''
    ),
    ...returnSituationsOf(history, purchases),
    'out-of-range line': lines.some((line) => line.outOfRange),
    'value of exactly 10^12': values.includes(1e12),
    'untrusted winner skipped': purchases.some(
      ({ transactionId, deliveryId }) =>
        transactionId.trim() !== '' &&
        trusting.some(
          (other) => other.transactionId === transactionId && other.deliveryId !== deliveryId
        )
    ),
    'voided delivery': history.deliveries.some((delivery) => delivery.voided),
    'exactly 5 minutes early': verdicts.some(
      ({ verdict, ageMs }) => verdict === 'counted' && ageMs === -5 * MINUTE
    ),
    '5 minutes and 1 ms early': verdicts.some(
      ({ verdict, ageMs }) => verdict === 'early' && ageMs === -5 * MINUTE - 1
    ),
    ...Object.fromEntries(
      ['expired', 'bot', 'prefetch'].map((name) => [
        name,
        verdicts.some(({ verdict }) => verdict === name),
      ])
    ),
  }
}

function returnSituationsOf(history: History, purchases: readonly PurchaseResult[]) {
  const { deliveries, returns } = history
  const credited = purchases.flatMap(({ deliveryId, lines }) => {
    const bought = deliveries.find((delivery) => delivery.deliveryId === deliveryId)?.lines ?? []
    return lines
      .filter(({ credits }) => Object.values(credits).some((credit) => credit !== null))
      .map(({ quantity, lineIndex }) => ({ left: quantity, of: bought[lineIndex]?.quantity ?? 0 }))
  })
  const repeats = returns.flatMap((one) =>
    returns.filter(
      (other) =>
        other !== one &&
        other.returnId === one.returnId &&
        other.transactionId === one.transactionId
    )
  )
  const purchaseOf = ({ transactionId }: HistoryReturn) =>
    purchases.find((purchase) => purchase.transactionId === transactionId)
  return {
    'credited line returned in part': credited.some(({ left, of }) => left > 0 && left < of),
    'credited line returned whole': credited.some(({ left }) => left === 0),
    'repeat of a return with other content': repeats.some((other) =>
      returns.some(
        (one) =>
          one.returnId === other.returnId &&
          JSON.stringify(one.lines) !== JSON.stringify(other.lines)
      )
    ),
    'return of a transaction that never comes': returns.some(
      (one) => one.transactionId === 'T-never'
    ),
    'return before its purchase': returns.some(
      (one) => one.receivedAtMs < (purchaseOf(one)?.receivedAtMs ?? 0)
    ),
    'untrusted return': returns.some((one) => one.untrusted),
  }
}

describe('generated histories', () => {
  // Guarantee: an agreement of SQL and reference on them is worth something at every corner.
  test('each situation occurs in at least 50 of 2,000 histories', (t) => {
    const counts = new Map<string, number>()
    for (let seed = 1; seed <= 2_000; seed++) {
      for (const [name, occurs] of Object.entries(situationsOf(historyOf(seed)))) {
        counts.set(name, (counts.get(name) ?? 0) + Number(occurs))
      }
    }

    const rare = [...counts].filter(([, count]) => count < 50)
    for (const [name, count] of counts) t.diagnostic(`${name}: ${count}`)
    assert.deepEqual(rare, [])
  })

  test('ids are well formed and stand for one thing, and all instants lie in the promised days', () => {
    const owners = new Map<string, string>()
    fc.assert(
      fc.property(fc.nat(), fc.integer({ min: 1, max: 2 ** 31 }), (seed, publisherId) => {
        owners.clear()
        const history = generateHistory(seededRandom(seed), { publisherId, startMs })
        for (const { ad, receivedAtMs } of history.events) {
          const text = JSON.stringify(ad, (_, value: unknown) =>
            typeof value === 'bigint' ? `${value}` : value
          )
          assert.equal(owners.get(ad.servedAdId) ?? text, text)
          owners.set(ad.servedAdId, text)
          assert.ok(ad.servedAtMs >= startMs && receivedAtMs >= startMs)
          assert.ok(ad.servedAtMs < startMs + 70 * DAY && receivedAtMs < startMs + 70 * DAY)
          assert.equal(ad.publisherId, publisherId)
        }
        for (const { deliveryId, receivedAtMs } of history.deliveries) {
          assert.ok(!owners.has(deliveryId))
          owners.set(deliveryId, '')
          assert.ok(receivedAtMs >= startMs && receivedAtMs < startMs + 70 * DAY)
        }
        for (const { deliveryId, receivedAtMs } of history.returns) {
          assert.ok(!owners.has(deliveryId))
          owners.set(deliveryId, '')
          assert.ok(receivedAtMs >= startMs && receivedAtMs < startMs + 70 * DAY)
        }
        for (const key of owners.keys()) assert.match(key, /^[0-9a-f]{32}$/)
      })
    )
  })

  test('one seed gives one history', () => {
    assert.deepEqual(historyOf(11), historyOf(11))
    assert.notDeepEqual(historyOf(11), historyOf(12))
  })
})
