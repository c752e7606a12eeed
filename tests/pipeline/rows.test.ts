import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FiredPlace } from '../../src/domain/ad-event-verdict.ts'
import { createCallerReader } from '../../src/domain/caller.ts'
import { emptyRules } from '../helpers/empty-catalog.ts'
import { planAdEventRow, buildDeliveryRow } from '../../src/pipeline/rows.ts'
import type { AdEventRow, BatchContext } from '../../src/pipeline/rows.ts'
import { nothingIsTooLate } from '../../src/days/final-days.ts'
import type { AdEventRecord, ConversionRecord } from '../../src/spool/record.ts'
import { createKeyRing, createMinter } from '../../src/tracking-data/tracking-data.ts'
import type { ServedAd } from '../../src/tracking-data/tracking-data.ts'
import {
  aConversion,
  aLine,
  anEvent,
  elsewhere,
  hashIdentity,
  judgeBySource,
  mint,
  openTrackingData,
} from '../helpers/shipment.ts'
import { anAd, servedAtMs } from '../tracking-data/builders.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const deliveryKey = 'ab'.repeat(16)
const googlebot = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)'

const desktop: FiredPlace = { siteType: 'DESKTOP', firesFromBackend: false }

const context: BatchContext = {
  tooLate: nothingIsTooLate,
  hashIdentity,
  deliveryJudge: judgeBySource(
    ({ publisherId, origin }) => publisherId === 10 && origin !== elsewhere
  ),
  callerOf: createCallerReader(),
  ...emptyRules,
  placeOf: (publisherId, siteId) =>
    publisherId === 10 && siteId === 101 ? desktop : emptyRules.placeOf(publisherId, siteId),
}

function buildAdEventRow(record: AdEventRecord, batch: BatchContext): AdEventRow | null {
  return planAdEventRow(record, openTrackingData(record.trackingData), batch)?.row ?? null
}

test('a row carries what the token says, and identities as hashes only', () => {
  const ad = anAd({ userId: 'user-1', userLoggedInId: 'customer-1' })
  const { servedAdId, trackingData } = mint(ad)

  const row = buildAdEventRow(anEvent({ trackingData }), context)

  assert.deepEqual(row, {
    served_ad_id: servedAdId,
    served_at_ms: servedAtMs,
    received_at_ms: servedAtMs + hourMs,
    kind: 'click',
    verdict: 'counted',
    publisher_id: 10,
    site_id: 101,
    market_id: 1,
    advertiser_id: 7,
    campaign_id: 1001,
    ad_group_id: 5001,
    gtin: '4006381333931',
    gtin_key: '04006381333931',
    group_id: 'GRP1',
    user_identity: hashIdentity('user', 10, 'user-1'),
    login_identity: hashIdentity('login', 10, 'customer-1'),
    currency: 'EUR',
    charge: '0.250000000',
    data_centre_list: '',
  })
  assert.ok(!JSON.stringify(row).includes('user-1'))
})

// Micros of the cost, and the charge in nanos of the currency: never rounded, never a float.
const charges: readonly (readonly [AdEventRecord['kind'], Partial<ServedAd>, string])[] = [
  ['impression', { costPerMilleMicros: 1_500_000n }, '0.001500000'],
  ['impression', { costPerMilleMicros: 1n }, '0.000000001'],
  ['impression', { costPerMilleMicros: 1_000_000_000_000n }, '1000.000000000'],
  ['impression', { costPerMilleMicros: 0n, costPerClickMicros: 5n }, '0.000000000'],
  ['click', { costPerClickMicros: 250_000n }, '0.250000000'],
  ['click', { costPerClickMicros: 1n }, '0.000001000'],
  ['click', { costPerClickMicros: 1_000_000_000_000n }, '1000000.000000000'],
  ['click', { costPerClickMicros: 0n, costPerMilleMicros: 5n }, '0.000000000'],
  ['load', { costPerClickMicros: 5n, costPerMilleMicros: 5n }, '0.000000000'],
]

for (const [kind, costs, charge] of charges) {
  test(`a ${kind} of an ad with ${printCosts(costs)} is charged ${charge}`, () => {
    const { trackingData } = mint(anAd(costs))

    assert.equal(buildAdEventRow(anEvent({ kind, trackingData }), context)?.charge, charge)
  })
}

const verdicts: readonly (readonly [string, Partial<AdEventRecord>, string])[] = [
  ['a click 7 days after serving', { receivedAtMs: servedAtMs + 7 * dayMs }, 'counted'],
  ['a click a millisecond later', { receivedAtMs: servedAtMs + 7 * dayMs + 1 }, 'expired'],
  [
    'an impression 24 hours after',
    { kind: 'impression', receivedAtMs: servedAtMs + dayMs },
    'counted',
  ],
  [
    'an impression a millisecond later',
    { kind: 'impression', receivedAtMs: servedAtMs + dayMs + 1 },
    'expired',
  ],
  ['a load a millisecond later', { kind: 'load', receivedAtMs: servedAtMs + dayMs + 1 }, 'expired'],
  ['a click 5 minutes before serving', { receivedAtMs: servedAtMs - 300_000 }, 'counted'],
  ['a click a millisecond earlier', { receivedAtMs: servedAtMs - 300_001 }, 'early'],
  ['a click loaded without a user agent', { userAgent: '' }, 'counted'],
  ['a click whose tracker found none', { userAgent: '', caller: 'unnamed' }, 'no-user-agent'],
  ['a click of the library of an app', { caller: 'app-library' }, 'bot'],
  ['a click out of a data centre', { caller: 'ordinary', dataCentreList: 'abc' }, 'data-centre'],
  ['a click of a bot', { userAgent: googlebot }, 'bot'],
  ['a prefetch', { isPrefetch: true }, 'prefetch'],
  ['a prefetch of a bot', { userAgent: googlebot, isPrefetch: true }, 'bot'],
  ['a bot of old lists', { userAgent: googlebot, isBot: false }, 'counted'],
  ['a bot of new lists', { isBot: true }, 'bot'],
  ['an event without a name of an older tracker', { userAgent: '', isBot: false }, 'counted'],
  ['a bot by what its tracker read', { caller: 'bot' }, 'bot'],
  ['an expired prefetch', { isPrefetch: true, receivedAtMs: servedAtMs + 9 * dayMs }, 'prefetch'],
]

for (const [event, changes, verdict] of verdicts) {
  test(`${event} is ${verdict}`, () => {
    const row = buildAdEventRow(anEvent(changes), context)

    assert.equal(row?.verdict, verdict)
  })
}

test('the version of the list stands in a row of a data centre, and in no other', () => {
  const [ordinary, bot] = (['ordinary', 'bot'] as const).map((caller) =>
    buildAdEventRow(anEvent({ caller, dataCentreList: 'abc' }), context)
  )

  assert.equal(ordinary?.data_centre_list, 'abc')
  assert.equal(bot?.data_centre_list, '')
})

test('the site of the token decides, by the catalog of its shipping', () => {
  const { trackingData } = mint(anAd({ publisherId: 10, siteId: 103 }))
  const event = anEvent({ trackingData, caller: 'unnamed' })
  const asApp = { ...context, placeOf: () => ({ ...desktop, siteType: 'MOBILE_APP' as const }) }
  const asBackend = { ...context, placeOf: () => ({ ...desktop, firesFromBackend: true }) }

  assert.equal(buildAdEventRow(event, context)?.verdict, 'counted')
  assert.equal(buildAdEventRow(event, asApp)?.verdict, 'counted')
  assert.equal(buildAdEventRow(event, asBackend)?.verdict, 'counted')
  const onDesktop = { ...context, placeOf: () => desktop }
  assert.equal(buildAdEventRow(event, onDesktop)?.verdict, 'no-user-agent')
})

test('a token that does not open gives no row', () => {
  const foreign = createMinter(createKeyRing()).mint(anAd())

  assert.equal(buildAdEventRow(anEvent({ trackingData: foreign.trackingData }), context), null)
})

test('a placeholder is no identity', () => {
  const { trackingData } = mint(anAd({ userId: 'undefined', userLoggedInId: '' }))

  const row = buildAdEventRow(anEvent({ trackingData }), context)

  assert.equal(row?.user_identity, '')
  assert.equal(row?.login_identity, '')
})

test('a group id that is blank or a placeholder names no group, on either side', () => {
  const none = [
    '',
    ' ',
    '\u00a0',
    'null',
    ' NULL ',
    'undefined',
    'N/A',
    '0',
    '-',
    'group_id',
    '{{ group }}',
    '[ITEM_GROUP_ID]',
  ]

  for (const groupId of none) {
    const { trackingData } = mint(anAd({ groupId }))
    const delivery = buildDelivery({ lines: [aLine({ groupId })] })
    assert.equal(buildAdEventRow(anEvent({ trackingData }), context)?.group_id, '', groupId)
    assert.deepEqual(delivery.line_group_id, [''], groupId)
  }
  for (const groupId of [' COFFEE', 'nullable', '01', 'N/A teas', 'ID', 'A-', 'Empties']) {
    const { trackingData } = mint(anAd({ groupId }))
    const delivery = buildDelivery({ lines: [aLine({ groupId })] })
    assert.equal(buildAdEventRow(anEvent({ trackingData }), context)?.group_id, groupId)
    assert.deepEqual(delivery.line_group_id, [groupId])
  }
})

test('a product spelled with blanks around it is the product without', () => {
  const { trackingData } = mint(anAd({ gtin: ' \t96385074 \n' }))

  const row = buildAdEventRow(anEvent({ trackingData }), context)
  const delivery = buildDelivery({ lines: [aLine({ gtin: '96385074 ' })] })

  assert.equal(row?.gtin, '96385074')
  assert.equal(row?.gtin_key, '00000096385074')
  assert.deepEqual(delivery.line_gtin_key, ['00000096385074'])
  assert.deepEqual(delivery.line_gtin, ['96385074 '])
})

const amounts: readonly (readonly [number, number, string, string])[] = [
  [19.99, 3, '59.970000000', 'valid'],
  [0.1, 3, '0.300000000', 'valid'],
  [1.005, 1_000, '1005.000000000', 'valid'],
  [1500, 2, '3000.000000000', 'valid'],
  [0, 5, '0.000000000', 'valid'],
  [-0, 5, '0.000000000', 'valid'],
  [5e-324, 1, '0.000000000', 'valid'],
  [1e-9, 2_147_483_647, '2.147483647', 'valid'],
  [1e12, 1, '1000000000000.000000000', 'valid'],
  [999_999_999_999.999, 1, '999999999999.999000000', 'valid'],
  [1e12, 2, '0', 'out-of-range'],
  [1e308, 2_147_483_647, '0', 'out-of-range'],
  [-0.01, 1, '0', 'out-of-range'],
  [19.99, 0, '0', 'out-of-range'],
  [19.99, -1, '0', 'out-of-range'],
]

for (const [price, quantity, value, verdict] of amounts) {
  test(`${quantity} times ${price} is worth ${value} and ${verdict}`, () => {
    const row = buildDelivery({ lines: [aLine({ price, quantity })] })

    assert.deepEqual(row.line_value, [value])
    assert.deepEqual(row.line_verdict, [verdict])
    assert.deepEqual(row.line_price, [price])
    assert.deepEqual(row.line_quantity, [quantity])
  })
}

test('the currency changes nothing of an amount: it is exact, not in minor units', () => {
  const row = buildDelivery({ currency: 'JPY', lines: [aLine({ price: 1234.5, quantity: 2 })] })

  assert.equal(row.currency, 'JPY')
  assert.deepEqual(row.line_value, ['2469.000000000'])
})

test('a line without a product is kept as no-product, and out-of-range comes before it', () => {
  const lines = [aLine({ gtin: ' ' }), aLine({ gtin: '', quantity: 0 }), aLine()]

  const row = buildDelivery({ lines })

  assert.deepEqual(row.line_verdict, ['no-product', 'out-of-range', 'valid'])
})

test('the arrays of a delivery are as long as its lines', () => {
  const row = buildDelivery({ lines: Array.from({ length: 50 }, () => aLine()) })

  const lengths = Object.values(row).flatMap((value) =>
    Array.isArray(value) ? [value.length] : []
  )
  assert.deepEqual(
    lengths,
    Array.from({ length: 8 }, () => 50)
  )
})

test('a purchase is its publisher and transaction, by exact text', () => {
  const [first, ...others] = [
    purchaseKeyOf({ transactionId: 'T1' }),
    purchaseKeyOf({ transactionId: 't1' }),
    purchaseKeyOf({ transactionId: 'T1 ' }),
    purchaseKeyOf({ transactionId: 'T1', publisherId: 11 }),
  ]
  assert.match(first ?? '', /^[0-9a-f]{32}$/u)
  assert.equal(
    purchaseKeyOf({ transactionId: 'T1', siteId: 5, currency: 'USD' }, 'cd'.repeat(16)),
    first
  )
  assert.equal(new Set([first, ...others]).size, 4)
})

for (const blank of ['', ' ', '\t\u00a0\u3000']) {
  test(`each delivery with the transaction ${JSON.stringify(blank)} is a purchase of its own`, () => {
    const record = aConversion({ transactionId: blank })

    const first = buildDeliveryRow(deliveryKey, record, context)
    const again = buildDeliveryRow(deliveryKey, record, context)
    const other = buildDeliveryRow('cd'.repeat(16), record, context)

    assert.equal(first.purchase_key, again.purchase_key)
    assert.notEqual(first.purchase_key, other.purchase_key)
    assert.equal(first.transaction_id, blank)
  })
}

test('a repeat has the content of the first, and any change of content shows', () => {
  const first = contentHashOf({})
  const repeats = [contentHashOf({ receivedAtMs: 1 }), contentHashOf({ origin: elsewhere })]
  const others = [
    contentHashOf({ siteId: 7 }),
    contentHashOf({ currency: 'USD' }),
    contentHashOf({ userIdentity: '' }),
    contentHashOf({ loginIdentity: 'ef'.repeat(16) }),
    contentHashOf({ lines: [aLine(), aLine()] }),
    contentHashOf({ lines: [aLine({ price: 19.98 })] }),
    contentHashOf({ lines: [aLine({ quantity: 2 })] }),
    contentHashOf({ lines: [aLine({ gtin: '1' })] }),
    contentHashOf({ lines: [aLine({ groupId: 'G' })] }),
    contentHashOf({ lines: [aLine({ brand: 'Other' })] }),
  ]

  assert.deepEqual(repeats, [first, first])
  assert.equal(new Set([first, ...others]).size, others.length + 1)
})

test('a delivery from elsewhere is untrusted and keeps all it said', () => {
  const row = buildDelivery({ origin: elsewhere })

  assert.equal(row.verdict, 'untrusted-source')
  assert.equal(buildDelivery({}).verdict, 'valid')
  assert.deepEqual(row.line_verdict, ['valid'])
})

function buildDelivery(changes: Partial<ConversionRecord>) {
  return buildDeliveryRow(deliveryKey, aConversion(changes), context)
}

function purchaseKeyOf(changes: Partial<ConversionRecord>, key = deliveryKey): string {
  return buildDeliveryRow(key, aConversion(changes), context).purchase_key
}

function contentHashOf(changes: Partial<ConversionRecord>): string {
  return buildDelivery(changes).content_hash
}

function printCosts(costs: Partial<ServedAd>): string {
  return Object.entries(costs)
    .map(([name, value]) => `${name} ${String(value)}`)
    .join(' and ')
}
