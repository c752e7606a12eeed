import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import type { ServedAdReading } from '../../src/contract/served-ad.ts'
import { placement } from '../helpers/placement.ts'
import { answerWith, received, run, useCliServer } from './harness.ts'

useCliServer()

const reading: ServedAdReading = {
  ad: {
    ...placement,
    servedAdId: '3f2504e0-4f89-41d3-9a0c-0305e82c3301',
    servedAt: '2026-03-02T12:00:00.000Z',
    keyId: '0a1b2c3d',
    gtin: '4006381333931\u001b[31m',
    groupId: '',
    currency: 'EUR',
    costPerClick: '0.25',
    costPerMille: '0',
    landingUrl: 'https://shop.example/coffee',
    userId: 'present',
    userLoggedInId: 'nobody',
  },
  names: {
    publisher: 'Shop',
    site: null,
    market: 'DE',
    advertiser: 'Acme',
    campaign: 'Spring',
    adGroup: 'Coffee',
  },
  countsFrom: '2026-03-02T11:55:00.000Z',
  viewsCountUntil: '2026-03-03T12:00:00.000Z',
  clicksCountUntil: '2026-03-09T12:00:00.000Z',
  events: [{ kind: 'click', verdict: 'counted', receivedAt: '2026-03-02T12:00:09.000Z' }],
  credits: [
    {
      publisherId: 10,
      transactionId: 'T-1',
      purchasedAt: '2026-03-02T13:00:00.000Z',
      line: 1,
      quantity: 2,
      value: '20',
      currency: 'EUR',
      rules: { CLK_14_DAYS: 'direct', IMP_1_DAY: null, IMP_1_DAY_CLK_14_DAYS: 'direct' },
    },
  ],
  creditsLeftOut: 7,
  creditedPurchases: 3,
  isFinal: true,
}

test('a link is sent in the body, and what it says, its events and its purchases are told in text', async () => {
  answerWith(200, reading)

  const { exitCode, stdout } = await run(['link', 'https://t.example/click/AQ?x=1'])

  assert.equal(exitCode, 0)
  assert.deepEqual(
    [received[0]?.method, received[0]?.url, received[0]?.body],
    ['POST', '/admin/v1/tracking-links/read', '{"link":"https://t.example/click/AQ?x=1"}']
  )
  for (const part of [
    'Ad 3f2504e0-4f89-41d3-9a0c-0305e82c3301, served at 2026-03-02T12:00:00.000Z',
    'publisher                10 Shop',
    'site                     101 (not in the catalog)',
    'cost per click           0.25 EUR',
    'user id                  yes (not shown)',
    'logged-in id             text that names nobody',
    'tracking key             0a1b2c3d',
    'click  2026-03-02T12:00:09.000Z  counted',
    'Purchases credited to it: 3',
    '20 EUR',
    '(7 more lines)',
    'The day of serving is final',
  ]) {
    assert.ok(stdout.includes(part), `${part} is missing in\n${stdout}`)
  }
  assert.ok(!stdout.includes('\u001b'), 'what ad servers send never drives the terminal')
})

test('an ad of which nothing came says so, and --json prints the answer as it came', async () => {
  const empty = { ...reading, events: [], credits: [], creditsLeftOut: 0, creditedPurchases: 0 }
  answerWith(200, empty)

  const text = await run(['link', 'AQ'])
  const json = await run(['link', 'AQ', '--json'])

  assert.match(text.stdout, /No event of it was received\.\n\nNo purchase is credited to it\./)
  assert.deepEqual(JSON.parse(json.stdout), empty)
})

test('- reads the link from the standard input, without the end of its line', async () => {
  answerWith(200, reading)

  const { exitCode } = await run(['link', '-'], { stdin: Readable.from(['AQ', 'ID\n']) })

  assert.deepEqual([exitCode, received[0]?.body], [0, '{"link":"AQID"}'])
})

for (const [what, argv, stdin] of [
  ['an empty link', ['link', ''], ''],
  ['a link beyond the bound', ['link', 'A'.repeat(16_385)], ''],
  ['a standard input of white space', ['link', '-'], ' \n'],
] as const) {
  test(`${what} is not understood and not sent`, async () => {
    const { exitCode, stderr } = await run(argv, { stdin: Readable.from([stdin]) })

    assert.equal(exitCode, 2)
    assert.match(stderr, /The link must have 1 to 16384 characters/)
    assert.equal(received.length, 0)
  })
}

test('what the server says against a link is told', async () => {
  answerWith(422, { messages: ['/link must be a tracking link'] })

  const { exitCode, stderr } = await run(['link', 'hello'])

  assert.equal(exitCode, 1)
  assert.match(stderr, /refused the request \(422\):\n {2}LINK must be a tracking link/)
})
