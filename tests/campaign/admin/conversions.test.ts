import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Explanation, OwnExplanation } from '../../../src/contract/explanation.ts'
import { Attributor } from '../../../src/attribution/attribute.ts'
import { createHistoryLoader, createIds } from '../../helpers/history-warehouse.ts'
import type { HistoryDelivery, HistoryLine, HistoryReturn } from '../../helpers/history.ts'
import { aClick, aPurchase, anAd } from '../../helpers/seal-scenario.ts'
import { bundle, startAdmin, type AdminHarness } from './harness.ts'

const atMs = Date.UTC(2026, 2, 2, 12)
const ad = anAd({ servedAtMs: atMs - 7_200_000 })
const rivalAd = anAd({
  ...ad,
  servedAdId: 'b'.repeat(32),
  advertiserId: 2,
  campaignId: 2001,
  adGroupId: 6001,
})

let harness: AdminHarness
let loader: ReturnType<typeof createHistoryLoader>
before(async () => {
  harness = await startAdmin()
  loader = createHistoryLoader(harness.warehouse, 0)
  await harness.call('PUT', '/admin/v1/catalog', JSON.stringify(bundle))
})
after(() => harness.close())

async function attributeAll(): Promise<void> {
  const attributor = new Attributor({ warehouse: harness.warehouse, settleMs: 0 })
  while ((await attributor.attributeBatch()).hasMore);
}

const aLine = (changes: Partial<HistoryLine> = {}): HistoryLine => ({
  gtin: ad.gtin,
  groupId: '',
  brand: '',
  price: 10,
  quantity: 2,
  ...changes,
})

const nextId = createIds()

function aDelivery(changes: Partial<HistoryDelivery> = {}): HistoryDelivery {
  return { ...aPurchase({ atMs }), deliveryId: nextId(), ...changes }
}

const pathOf = (transactionId: string) =>
  `/admin/v1/conversions/10/${encodeURIComponent(transactionId)}`

async function explained(transactionId: string): Promise<Explanation> {
  const { status, json } = await harness.call('GET', pathOf(transactionId))
  assert.equal(status, 200, JSON.stringify(json))
  return json as Explanation
}

test('an explanation shows every delivery with its standing, every line with its verdict, and the race for it', async () => {
  const transactionId = 'explained'
  const first = aDelivery({
    transactionId,
    lines: [aLine(), aLine({ gtin: ' ' }), aLine({ quantity: -1 }), aLine({ gtin: 'B' })],
  })
  const repeat = aDelivery({ ...first, deliveryId: nextId(), receivedAtMs: atMs + 5 })
  const conflict = aDelivery({ transactionId, currency: 'USD', deliveryId: 'f'.repeat(32) })
  const untrusted = aDelivery({ transactionId, untrusted: true, receivedAtMs: atMs - 9 })
  await loader.ship([
    aClick(ad, atMs - 3_600_000),
    aClick(rivalAd, atMs - 60_000),
    first,
    repeat,
    conflict,
    untrusted,
  ])
  const waiting = await explained(transactionId)
  await attributeAll()

  const done = await explained(transactionId)

  assert.deepEqual(
    [waiting.isPending, waiting.attribution, waiting.isUpToDate],
    [true, null, false]
  )
  assert.deepEqual([done.isPending, done.isUpToDate], [false, true])
  assert.deepEqual(
    done.deliveries.map(({ deliveryId, standing, isConflict }) => [
      deliveryId,
      standing,
      isConflict,
    ]),
    [
      [untrusted.deliveryId, 'untrusted-source', true],
      [first.deliveryId, 'counted', false],
      [conflict.deliveryId, 'greater-delivery-id', true],
      [repeat.deliveryId, 'later', false],
    ]
  )
  assert.deepEqual(
    done.lines.map(({ line, verdict, candidates }) => [line, verdict, candidates.length]),
    [
      [1, 'valid', 2],
      [2, 'no-product', 0],
      [3, 'out-of-range', 0],
      [4, 'valid', 2],
    ]
  )
  assert.deepEqual(
    done.lines[0]?.candidates.map(({ advertiserId, outcomes, msBeforePurchase, sharedIds }) => [
      advertiserId,
      outcomes.CLK_14_DAYS,
      msBeforePurchase,
      sharedIds,
    ]),
    [
      [2, 'won', 60_000, ['user']],
      [1, 'earlier', 3_600_000, ['user']],
    ]
  )
  assert.equal(done.lines[0]?.credits.IMP_1_DAY_CLK_14_DAYS?.servedAdId.slice(0, 9), 'bbbbbbbb-')
  assert.deepEqual(done.ids, [{ kind: 'user', touchpoints: 2, isCrowd: false }])
  assert.equal(done.lines[3]?.credits.CLK_14_DAYS, null)
})

test('no identity leaves with an explanation, neither in the clear nor as a hash', async () => {
  const { json } = await harness.call('GET', pathOf('explained'))
  const rows = await harness.warehouse.rows<{ hash: string }>(
    `SELECT DISTINCT lower(hex(arrayJoin([user_identity, login_identity, content_hash, purchase_key]))) AS hash FROM delivery LIMIT 1000`
  )

  const text = JSON.stringify(json)
  assert.ok(rows.length > 0)
  for (const { hash } of rows) assert.ok(!text.includes(hash.slice(0, 12)) || /^0+$/.test(hash))
  assert.ok(!text.includes('shopper'))
})

for (const transactionId of ['a/b', '100%', '%2F', 'ü 1+1', '?x=1#y', 'void', "it's;`"]) {
  test(`a transaction called ${transactionId} is found by its percent-encoded text, decoded once`, async () => {
    const delivery = aDelivery({ transactionId })
    await loader.ship([delivery])

    const explanation = await explained(transactionId)

    assert.deepEqual(
      [explanation.transactionId, explanation.countedDeliveryId],
      [transactionId, delivery.deliveryId]
    )
  })
}

for (const path of [
  '/admin/v1/conversions/10/never-heard-of',
  '/admin/v1/conversions/11/explained',
  '/admin/v1/conversions/10/%20',
  '/admin/v1/conversions/10/%00',
  '/admin/v1/conversions/010/explained',
  '/admin/v1/conversions/x/explained',
]) {
  test(`nothing is known of ${path}`, async () => {
    const got = await harness.call('GET', path)
    const valid = JSON.stringify({ deliveryId: 'e'.repeat(32), reason: 'x' })
    const bodies = ['{', '{}', valid]
    const posted = await Promise.all(
      ['void', 'unvoid'].flatMap((verb) =>
        bodies.map((body) => harness.call('POST', `${path}/${verb}`, body))
      )
    )

    const answer = { status: 404, json: { messages: ['Nothing is known of such a purchase.'] } }
    for (const one of [got, ...posted]) assert.deepEqual(one, answer)
  })
}

test('a voided delivery hands the purchase to the next, again and again with the same answer, and each call is recorded', async () => {
  const transactionId = 'to be voided'
  const first = aDelivery({ transactionId, lines: [aLine({ quantity: 1 })] })
  const second = aDelivery({ transactionId, receivedAtMs: atMs + 86_400_000 })
  await loader.ship([first, second])
  await attributeAll()
  const body = JSON.stringify({ deliveryId: first.deliveryId, reason: 'sent by mistake' })

  const voided = await harness.call('POST', `${pathOf(transactionId)}/void`, body)
  const pending = await explained(transactionId)
  await attributeAll()
  const done = await explained(transactionId)
  const again = await harness.call('POST', `${pathOf(transactionId)}/void`, body)
  await attributeAll()
  const audits = (await harness.audits()).filter(({ action }) => action === 'delivery.void')
  const [touched] = await harness.warehouse.rows<{ count: number }>(
    `SELECT uniqExact(toDate(from_at)) AS count FROM touched_span WHERE market_id = -1`
  )

  assert.equal(voided.status, 200)
  assert.deepEqual(voided, again)
  assert.deepEqual(
    [pending.countedDeliveryId, pending.isPending, pending.isUpToDate],
    [second.deliveryId, true, false]
  )
  assert.deepEqual([done.isPending, done.isUpToDate], [false, true])
  assert.deepEqual(
    done.deliveries.map(({ standing }) => standing),
    ['void', 'counted']
  )
  assert.equal(done.attribution?.deliveryId, second.deliveryId)
  assert.ok((touched?.count ?? 0) >= 2, 'the days on both sides are sealed again')
  assert.deepEqual(
    audits.map(({ subject, details }) => [subject, JSON.parse(details)]),
    [first, second].map((counted) => [
      first.deliveryId,
      {
        publisherId: 10,
        transactionId,
        reason: 'sent by mistake',
        before: { countedDeliveryId: counted.deliveryId },
        after: { countedDeliveryId: second.deliveryId },
      },
    ])
  )
})

test('a purchase of which every delivery is void is credited to nobody', async () => {
  const transactionId = 'all void'
  const only = aDelivery({ transactionId })
  await loader.ship([only])
  await attributeAll()

  const body = JSON.stringify({ deliveryId: only.deliveryId, reason: 'a test order' })
  const { json } = await harness.call('POST', `${pathOf(transactionId)}/void`, body)
  await attributeAll()
  const explanation = await explained(transactionId)

  assert.equal((json as { countedDeliveryId: unknown }).countedDeliveryId, null)
  assert.deepEqual(
    [explanation.countedDeliveryId, explanation.lines, explanation.isUpToDate],
    [null, [], true]
  )
})

for (const [body, message] of [
  ['{', 'body must be valid JSON'],
  ['{}', '/deliveryId is required'],
  ['{"deliveryId":"1","reason":"x"}', '/deliveryId must'],
  [`{"deliveryId":"${'e'.repeat(32)}","reason":"x"}`, '/deliveryId must be the id of a delivery'],
  [`{"deliveryId":"${'e'.repeat(32)}","reason":" "}`, '/reason must say why'],
  [`{"deliveryId":"${'e'.repeat(32)}","reason":"${'x'.repeat(501)}"}`, '/reason must'],
] as const) {
  test(`voiding with ${body.slice(0, 60)} is refused by its rule`, async () => {
    const { status, json } = await harness.call('POST', `${pathOf('explained')}/void`, body)

    assert.equal(status, 422)
    assert.ok(JSON.stringify(json).includes(message), JSON.stringify(json))
  })
}

test('a delivery that cannot count need not be voided', async () => {
  const { deliveries } = await explained('explained')
  const untrusted = deliveries.find(({ standing }) => standing === 'untrusted-source')

  const body = JSON.stringify({ deliveryId: untrusted?.deliveryId, reason: 'x' })
  const { status, json } = await harness.call('POST', `${pathOf('explained')}/void`, body)

  assert.equal(status, 422)
  assert.match(JSON.stringify(json), /could count; this one is untrusted-source/)
})

test('an advertiser is told of its own credit and its own losers, of others only how many, and of other purchases nothing', async () => {
  const own = await harness.call('GET', '/v2/advertisers/2/attributions/10/explained')
  const loser = await harness.call('GET', '/v2/advertisers/1/attributions/10/explained')
  const unknown = await harness.call('GET', '/v2/advertisers/2/attributions/10/never-heard-of')
  const nobody = await harness.call('GET', '/v2/advertisers/99/attributions/10/explained')

  const explanation = own.json as OwnExplanation
  assert.equal(own.status, 200)
  assert.deepEqual(
    explanation.lines.map(({ line, quantity, value, otherAdvertisersCandidates }) => [
      line,
      quantity,
      value,
      otherAdvertisersCandidates,
    ]),
    [[1, 2, '20.00', 1]]
  )
  const [line] = explanation.lines
  assert.deepEqual(
    line?.candidates.map(({ campaignId, outcomes }) => [campaignId, outcomes.CLK_14_DAYS]),
    [[2001, 'won']]
  )
  assert.equal(line?.credits.CLK_14_DAYS.creditedTo, 'you')
  assert.deepEqual(line?.credits.IMP_1_DAY, { creditedTo: 'nobody', credit: null })
  assert.ok(!JSON.stringify(explanation).includes('1001'), 'the other campaign is not named')
  assert.equal(loser.status, 404)
  assert.deepEqual(loser, unknown)
  assert.deepEqual(nobody.json, { messages: ['There is no such advertiser.'] })
})

function aReturn(
  changes: Partial<HistoryReturn> & { readonly transactionId: string }
): HistoryReturn {
  return {
    deliveryId: nextId(),
    receivedAtMs: atMs + 1_000,
    publisherId: 10,
    returnId: 'R1',
    lines: [{ gtin: ad.gtin, quantity: 1 }],
    untrusted: false,
    ...changes,
  }
}

test('returns are listed with what became of each, lines with what remains, and an advertiser is credited with that', async () => {
  const transactionId = 'sent back'
  const first = aReturn({ transactionId })
  const repeat = aReturn({ transactionId, receivedAtMs: atMs + 2_000 })
  const conflict = aReturn({
    transactionId,
    receivedAtMs: atMs + 3_000,
    lines: [{ gtin: ad.gtin, quantity: 9 }],
  })
  const untrusted = aReturn({ transactionId, receivedAtMs: atMs, untrusted: true })
  const other = aReturn({
    transactionId,
    returnId: 'R2',
    receivedAtMs: atMs + 4_000,
    lines: [{ gtin: ad.gtin, quantity: 2 }],
  })
  const lines = [aLine({ quantity: 2, price: 5 }), aLine({ quantity: 3, price: 7 })]
  await loader.ship([aDelivery({ transactionId, lines })])
  await attributeAll()
  await loader.ship([first, repeat, conflict, untrusted, other])
  const pending = await explained(transactionId)
  await attributeAll()

  const done = await explained(transactionId)
  const own = await harness.call('GET', '/v2/advertisers/2/attributions/10/sent%20back')

  assert.deepEqual([pending.isPending, pending.isUpToDate], [true, false])
  assert.deepEqual([done.isPending, done.isUpToDate], [false, true])
  assert.deepEqual(
    done.returns.map(({ returnId, deliveryId, standing, isConflict }) => [
      returnId,
      deliveryId,
      standing,
      isConflict,
    ]),
    [
      ['R1', untrusted.deliveryId, 'untrusted-source', false],
      ['R1', first.deliveryId, 'counted', false],
      ['R1', repeat.deliveryId, 'later', false],
      ['R1', conflict.deliveryId, 'later', true],
      ['R2', other.deliveryId, 'counted', false],
    ]
  )
  const remaining = done.lines.map(({ remainingQuantity, remainingValue }) => [
    remainingQuantity,
    remainingValue,
  ])
  assert.deepEqual(remaining, [
    [0, '0.00'],
    [2, '14.00'],
  ])
  const { lines: credited } = own.json as OwnExplanation
  assert.deepEqual(
    credited.map(({ quantity, value }) => [quantity, value]),
    remaining
  )
  assert.deepEqual(
    credited.map(({ boughtQuantity, boughtValue, returns }) => [
      boughtQuantity,
      boughtValue,
      returns.map(({ returnedAt, quantity }) => [Date.parse(returnedAt) - atMs, quantity]),
    ]),
    [
      [
        2,
        '10.00',
        [
          [1_000, 1],
          [4_000, 1],
        ],
      ],
      [3, '21.00', [[4_000, 1]]],
    ]
  )
})

test('of a purchase that never came, its returns are known', async () => {
  const transactionId = 'return only'
  await loader.ship([aReturn({ transactionId })])

  const { deliveries, returns, countedDeliveryId, isUpToDate } = await explained(transactionId)

  assert.deepEqual([deliveries, countedDeliveryId, isUpToDate], [[], null, true])
  assert.deepEqual(
    returns.map(({ standing }) => standing),
    ['counted']
  )
})

function announce(day: string): Promise<void> {
  return harness.warehouse.command(
    `INSERT INTO final_before VALUES ({day:Date}, 'announced', now64(6))`,
    { day }
  )
}

test('a delivery of a final day can be voided so that one of an open day counts', async () => {
  const transactionId = 'taken in advance'
  const squatter = aDelivery({ transactionId, receivedAtMs: Date.UTC(2026, 1, 20, 12) })
  const order = aDelivery({ transactionId, receivedAtMs: Date.UTC(2026, 2, 9, 12) })
  await loader.ship([squatter, order])
  await announce('2026-03-01')
  const known = await explained(transactionId)

  const reason = 'no such order was placed'
  const body = JSON.stringify({ deliveryId: squatter.deliveryId, reason })
  const { status, json } = await harness.call('POST', `${pathOf(transactionId)}/void`, body)

  assert.equal(known.countedDeliveryId, squatter.deliveryId)
  assert.deepEqual([status, json['countedDeliveryId']], [200, order.deliveryId])
})

test('a purchase of a day that is final cannot be voided, and one of the first day that surely is not can', async () => {
  const transactionId = 'nearly final'
  const delivery = aDelivery({ transactionId, receivedAtMs: Date.UTC(2026, 2, 2, 12) })
  await loader.ship([delivery])
  const body = JSON.stringify({ deliveryId: delivery.deliveryId, reason: 'late' })

  await announce('2026-03-01')
  const early = await harness.call('POST', `${pathOf(transactionId)}/void`, body)
  await announce('2026-03-02')
  const late = await harness.call('POST', `${pathOf(transactionId)}/void`, body)

  assert.equal(early.status, 200)
  assert.deepEqual(late, {
    status: 422,
    json: {
      messages: [
        '/deliveryId must be of a purchase with a delivery that lies in no final day of any market; days before 2026-03-02 are final',
      ],
    },
  })
})
