import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Explanation } from '../../src/contract/explanation.ts'
import { answerWith, received, run, useCliServer } from './harness.ts'

useCliServer()

const deliveryId = 'd'.repeat(32)
const ad = {
  servedAdId: '3f2504e0-4f89-41d3-9a0c-0305e82c3301',
  touchedAt: '2026-03-01T10:00:00.000Z',
  msBeforePurchase: 90_061_500,
  marketId: 1,
  advertiserId: 1,
  campaignId: 1001,
  adGroupId: 5001,
  gtin: '4006381333931',
}
const line = {
  line: 1,
  gtin: '4006381333931',
  groupId: 'G\u001b[31m',
  brand: '',
  price: 19.99,
  quantity: 2,
  value: '39.98',
  remainingQuantity: 1,
  remainingValue: '19.99',
} as const
const noCredits = { CLK_14_DAYS: null, IMP_1_DAY: null, IMP_1_DAY_CLK_14_DAYS: null }
const credit = { rule: 'direct', ...ad } as const

const explanation: Explanation = {
  publisherId: 10,
  transactionId: 'T/1',
  deliveries: [
    {
      deliveryId,
      receivedAt: '2026-03-02T11:01:01.500Z',
      siteId: 101,
      currency: 'EUR',
      standing: 'counted',
      isConflict: false,
      lineCount: 2,
    },
    {
      deliveryId: 'e'.repeat(32),
      receivedAt: '2026-03-01T00:00:00.000Z',
      siteId: 101,
      currency: 'EUR',
      standing: 'void',
      isConflict: true,
      voidedAt: '2026-03-03T00:00:00.000Z',
      lineCount: 1,
    },
  ],
  deliveriesLeftOut: 3,
  returns: [
    {
      returnId: 'R1',
      deliveryId: 'a'.repeat(32),
      receivedAt: '2026-03-05T00:00:00.000Z',
      standing: 'counted',
      isConflict: false,
      products: [{ gtin: '4006381333931', quantity: 1 }],
    },
  ],
  returnsLeftOut: 2,
  countedDeliveryId: deliveryId,
  ids: [{ kind: 'user', touchpoints: 6_000, isCrowd: true }],
  lines: [
    {
      ...line,
      verdict: 'valid',
      credits: { CLK_14_DAYS: credit, IMP_1_DAY: null, IMP_1_DAY_CLK_14_DAYS: credit },
      candidates: [
        {
          ...ad,
          kind: 'click',
          siteId: 101,
          sharedIds: ['login'],
          groupId: '',
          rule: 'direct',
          outsideMs: 0,
          outcomes: {
            CLK_14_DAYS: 'won',
            IMP_1_DAY: 'not-in-profile',
            IMP_1_DAY_CLK_14_DAYS: 'won',
          },
        },
        {
          ...ad,
          kind: 'view',
          siteId: 101,
          sharedIds: ['login'],
          groupId: '',
          rule: null,
          outsideMs: 3_661_500,
          outcomes: {
            CLK_14_DAYS: 'not-in-profile',
            IMP_1_DAY: 'outside-window',
            IMP_1_DAY_CLK_14_DAYS: 'outside-window',
          },
        },
      ],
      candidatesLeftOut: 7,
    },
    {
      ...line,
      line: 2,
      verdict: 'out-of-range',
      credits: noCredits,
      candidates: [],
      candidatesLeftOut: 0,
    },
  ],
  linesLeftOut: 0,
  attribution: {
    readAt: '2026-03-02T11:01:04.000Z',
    deliveryId,
    isFrozen: false,
    creditedLines: 1,
  },
  isPending: true,
  isUpToDate: false,
  names: {
    publisher: null,
    markets: [],
    campaigns: [],
    adGroups: [],
    products: [],
    sites: [],
    advertisers: [],
  },
}

test('an explanation is told in text: deliveries, winners, why the others lost, and what the reports use', async () => {
  answerWith(200, explanation)

  const { exitCode, stdout } = await run(['explain', '10', 'T/1'])

  assert.equal(exitCode, 0)
  assert.equal(received[0]?.url, '/admin/v1/conversions/10/T%2F1')
  for (const part of [
    'Purchase T/1 of publisher 10',
    'counts',
    'void since 2026-03-03T00:00:00.000Z, other content',
    '(3 more deliveries)',
    '1 x 4006381333931  counts',
    '(2 more deliveries of returns)',
    '1 of them sent back',
    'has 6,000 touchpoints in the 15 days up to the purchase: a crowd',
    'CLK_14_DAYS: advertiser 1, campaign 1001, direct click of ad 3f2504e0-4f89-41d3-9a0c-0305e82c3301, 1 d 1 h 1 min 1.5 s before',
    'IMP_1_DAY: nobody',
    'outside of the window by 1 h 1 min 1.5 s',
    '(7 more touchpoints)',
    'out of range: never credited',
    'does not agree with this. A newer attribution is on its way.',
  ]) {
    assert.ok(stdout.includes(part), `${part} is missing in\n${stdout}`)
  }
  assert.ok(!stdout.includes('\u001b'), 'what shops send never drives the terminal')
})

test('a purchase of an erased shopper is told as frozen, not as one that disagrees', async () => {
  const { attribution } = explanation
  assert.ok(attribution !== null)
  answerWith(200, {
    ...explanation,
    isPending: false,
    attribution: { ...attribution, isFrozen: true },
  })

  const { stdout } = await run(['explain', '10', 'T/1'])

  assert.match(
    stdout,
    /read at 2026-03-02T11:01:04\.000Z and is frozen by an erasure: credit stays/u
  )
  assert.doesNotMatch(stdout, /agree/u)
})

test('an explanation fits the terminal', async () => {
  answerWith(200, explanation)

  const { stdout } = await run(['explain', '10', 'T/1', '--no-color'], { columns: 80 })

  assert.deepEqual(
    stdout.split('\n').filter((one) => one.length > 80),
    []
  )
})

test('--json prints the answer as it came', async () => {
  answerWith(200, explanation)

  const { stdout } = await run(['explain', '10', 'T/1', '--json'])

  assert.deepEqual(JSON.parse(stdout), explanation)
})

test('a delivery is voided with a reason, and what counts then is told', async () => {
  const voidedAt = '2026-03-03T00:00:00.000Z'
  answerWith(200, { deliveryId, voidedAt, countedDeliveryId: null })

  const { exitCode, stdout } = await run(['void', '10', 'T 1', deliveryId, '--reason', 'a test'])

  assert.equal(exitCode, 0)
  assert.match(stdout, /is void since 2026-03-03T00:00:00.000Z. None of its deliveries counts now/)
  assert.deepEqual(
    [received[0]?.method, received[0]?.url, received[0]?.body],
    [
      'POST',
      '/admin/v1/conversions/10/T%201/void',
      `{"deliveryId":"${deliveryId}","reason":"a test"}`,
    ]
  )
})

test('a void is taken back with a reason, and what counts then is told', async () => {
  const judgedAt = '2026-03-03T00:00:00.000Z'
  answerWith(200, { deliveryId, judgedAt, countedDeliveryId: deliveryId })

  const { exitCode, stdout } = await run(['unvoid', '10', 'T 1', deliveryId, '--reason', 'real'])

  assert.equal(exitCode, 0)
  assert.match(stdout, /is not void any more. Delivery d+ counts now/)
  assert.equal(received.at(-1)?.url, '/admin/v1/conversions/10/T%201/unvoid')
})

for (const [argv, message] of [
  [['explain', 'x', 'T1'], 'PUBLISHER must be'],
  [['explain', '10', '..'], 'TRANSACTION must be'],
  [['void', '10', 'T1', deliveryId], '--reason must say'],
  [['void', '10', 'T1', deliveryId, '--reason', ' '], '--reason must say'],
  [['unvoid', '10', 'T1', deliveryId], '--reason must say'],
] as const) {
  test(`shelftrace ${argv.join(' ')} is not understood`, async () => {
    const { exitCode, stderr } = await run(argv)

    assert.equal(exitCode, 2)
    assert.ok(stderr.includes(message), stderr)
    assert.equal(received.length, 0)
  })
}
