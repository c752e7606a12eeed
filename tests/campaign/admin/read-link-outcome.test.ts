import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { ServedAdReading } from '../../../src/contract/served-ad.ts'
import { createIdentityHasher } from '../../../src/domain/identity.ts'
import { Attributor } from '../../../src/attribution/attribute.ts'
import { eraseDue } from '../../../src/erasure/erase.ts'
import { requestErasure } from '../../../src/erasure/erasures.ts'
import { createServedAdReader } from '../../../src/reports/served-ad.ts'
import { createHistoryLoader, createIds } from '../../helpers/history-warehouse.ts'
import type { HistoryAd, HistoryEvent } from '../../helpers/history.ts'
import { aClick, aPurchase } from '../../helpers/seal-scenario.ts'
import { silentLog } from '../../helpers/silent-log.ts'
import { adminKey, bearer } from './harness.ts'
import {
  servedAtMs,
  startLinkReader,
  userId,
  userLoggedInId,
  type LinkReader,
} from './link-reader.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs

let links: LinkReader
let loader: ReturnType<typeof createHistoryLoader>
before(async () => {
  links = await startLinkReader()
  loader = createHistoryLoader(links.admin.warehouse, 0)
})
after(() => links.admin.close())

function anEvent(ad: HistoryAd, changes: Partial<HistoryEvent>): HistoryEvent {
  return { ...aClick(ad, servedAtMs), ...changes }
}

const nextId = createIds()

interface Person {
  readonly userId: string
  readonly userLoggedInId: string
}

function bought(transactionId: string, atMs: number, person: Person) {
  return { ...aPurchase({ atMs, transactionId, deliveryId: nextId() }), ...person }
}

async function attributeAll(): Promise<void> {
  const attributor = new Attributor({ warehouse: links.admin.warehouse, settleMs: 0 })
  while ((await attributor.attributeBatch()).hasMore);
}

test('events are told with their verdict at their earliest receipt, before and after the engine has merged repeats', async () => {
  const visitor = { userId: 'visitor', userLoggedInId: '' }
  const { token, ad } = links.mint(visitor)
  const neighbour = links.mint(visitor)
  await loader.ship([
    anEvent(ad, { kind: 'load', receivedAtMs: servedAtMs + 1_000 }),
    anEvent(ad, { kind: 'impression', receivedAtMs: servedAtMs + 3_000 }),
    anEvent(ad, { kind: 'click', receivedAtMs: servedAtMs + 9_000, userAgent: 'curl/8' }),
    anEvent(ad, { kind: 'click', receivedAtMs: servedAtMs + 8 * dayMs }),
    anEvent(neighbour.ad, { kind: 'click', receivedAtMs: servedAtMs + 5_000 }),
  ])
  await loader.ship([anEvent(ad, { kind: 'impression', receivedAtMs: servedAtMs + 2_000 })])

  const parted = await links.read(token)
  await links.admin.warehouse.command('OPTIMIZE TABLE ad_event FINAL')
  const merged = await links.read(token)

  assert.deepEqual(parted.events, [
    { kind: 'load', verdict: 'counted', receivedAt: '2026-03-02T12:00:01.000Z' },
    { kind: 'impression', verdict: 'counted', receivedAt: '2026-03-02T12:00:02.000Z' },
    { kind: 'click', verdict: 'bot', receivedAt: '2026-03-02T12:00:09.000Z' },
    { kind: 'click', verdict: 'expired', receivedAt: '2026-03-10T12:00:00.000Z' },
  ])
  assert.deepEqual(merged, parted)
})

const none = { CLK_14_DAYS: null, IMP_1_DAY: null, IMP_1_DAY_CLK_14_DAYS: null }

const summary = ({ credits }: ServedAdReading) =>
  credits.map(({ transactionId, rules }) => [transactionId, rules])

test('a purchase is listed under every ad that a profile credits, with the rule, and under no other', async () => {
  const person = { userId: 'somebody', userLoggedInId: '' }
  const clicked = links.mint(person)
  const seen = links.mint(person)
  const loser = links.mint(person)
  await loader.ship([
    aClick(loser.ad, servedAtMs + 1_000),
    aClick(clicked.ad, servedAtMs + 2_000),
    anEvent(seen.ad, { kind: 'impression', receivedAtMs: servedAtMs + 3_000 }),
    bought('both', servedAtMs + hourMs, person),
    bought('click only', servedAtMs + 3 * dayMs, person),
    bought('elsewhere', servedAtMs + hourMs, { userId: 'another', userLoggedInId: '' }),
  ])
  await attributeAll()

  const [byClick, byView, byNone] = [
    await links.read(clicked.token),
    await links.read(seen.token),
    await links.read(loser.token),
  ]

  const direct = { ...none, CLK_14_DAYS: 'direct', IMP_1_DAY_CLK_14_DAYS: 'direct' }
  assert.deepEqual(summary(byClick), [
    ['both', direct],
    ['click only', direct],
  ])
  assert.deepEqual(byClick.credits[0], {
    publisherId: 10,
    transactionId: 'both',
    purchasedAt: '2026-03-02T13:00:00.000Z',
    line: 1,
    quantity: 2,
    value: '20.00',
    currency: 'EUR',
    rules: direct,
  })
  assert.deepEqual([byClick.creditedPurchases, byClick.creditsLeftOut], [2, 0])
  assert.deepEqual(summary(byView), [['both', { ...none, IMP_1_DAY: 'view' }]])
  assert.deepEqual([summary(byNone), byNone.creditedPurchases], [[], 0])
})

test('the last instants at which a click and a view may earn a purchase are within reach', async () => {
  const person = { userId: 'late shopper', userLoggedInId: '' }
  const clicked = links.mint(person)
  const viewer = { userId: 'late viewer', userLoggedInId: '' }
  const seen = links.mint(viewer)
  const early = { userId: 'early shopper', userLoggedInId: '' }
  const midnight = Date.UTC(2026, 2, 2)
  const ahead = links.mint({ ...early, servedAtMs: midnight })
  await loader.ship([
    aClick(clicked.ad, servedAtMs + 7 * dayMs),
    bought('last click', servedAtMs + 21 * dayMs, person),
    anEvent(seen.ad, { kind: 'impression', receivedAtMs: servedAtMs + dayMs }),
    bought('last view', servedAtMs + 2 * dayMs, viewer),
    aClick(ahead.ad, midnight - 300_000),
    bought('before serving', midnight - 299_000, early),
  ])
  await attributeAll()

  const found = [
    await links.read(clicked.token),
    await links.read(seen.token),
    await links.read(ahead.token),
  ]

  assert.deepEqual(
    found.map(({ credits }) => credits.map(({ transactionId }) => transactionId)),
    [['last click'], ['last view'], ['before serving']]
  )
  const [, view] = found
  assert.deepEqual(view?.credits[0]?.rules, {
    CLK_14_DAYS: null,
    IMP_1_DAY: 'view',
    IMP_1_DAY_CLK_14_DAYS: 'view',
  })
})

test('credit that moved to another ad, and credit of a void delivery, is no longer listed', async () => {
  const person = { userId: 'fickle', userLoggedInId: '' }
  const first = links.mint(person)
  const second = links.mint(person)
  const purchase = bought('moves on', servedAtMs + hourMs, person)
  const wrong = bought('wrong', servedAtMs + 2 * hourMs, person)
  await loader.ship([aClick(first.ad, servedAtMs + 1_000), purchase, wrong])
  await attributeAll()
  const known = await links.read(first.token)
  await loader.ship([aClick(second.ad, servedAtMs + 2_000)])
  const body = JSON.stringify({ deliveryId: wrong.deliveryId, reason: 'a test' })
  const voided = await links.admin.app.inject({
    method: 'POST',
    url: '/admin/v1/conversions/10/wrong/void',
    headers: bearer(adminKey),
    payload: body,
  })
  await attributeAll()

  const [loser, winner] = [await links.read(first.token), await links.read(second.token)]

  assert.equal(voided.statusCode, 200, voided.body)
  assert.equal(known.creditedPurchases, 2)
  assert.deepEqual(loser.credits, [])
  assert.deepEqual(
    winner.credits.map(({ transactionId }) => transactionId),
    ['moves on']
  )
})

test('of more credited lines than are listed the first are shown and the others counted', async () => {
  const person = { userId: 'hoarder', userLoggedInId: '' }
  const { token, ad } = links.mint(person)
  const line = { gtin: ad.gtin, groupId: '', brand: '', price: 1.5, quantity: 1 }
  const lines = Array.from({ length: 30 }, () => line)
  const purchases = Array.from({ length: 4 }, (_, index) => ({
    ...bought(`much ${index}`, servedAtMs + hourMs + index, person),
    lines,
  }))
  await loader.ship([aClick(ad, servedAtMs + 1_000), ...purchases])
  await attributeAll()

  const { credits, creditsLeftOut, creditedPurchases } = await links.read(token)

  assert.deepEqual([credits.length, creditsLeftOut, creditedPurchases], [100, 20, 4])
  assert.deepEqual(
    [credits[0], credits[99]].map((one) => [one?.transactionId, one?.line, one?.value]),
    [
      ['much 0', 1, '1.50'],
      ['much 3', 10, '1.50'],
    ]
  )
})

test('what stands under an ad stays there when its shopper is erased, and neither ids nor hashes leave with an answer or the log', async () => {
  const person = { userId, userLoggedInId }
  const { token, ad } = links.mint()
  await loader.ship([
    aClick(ad, servedAtMs + 1_000),
    bought('private', servedAtMs + hourMs, person),
  ])
  await attributeAll()
  const known = await links.read(token)
  const { warehouse, openTrackingData } = links.admin
  // That of the loader.
  const hashIdentity = createIdentityHasher(Buffer.alloc(32, 7))
  const identities = [hashIdentity('user', 10, userId), hashIdentity('login', 10, userLoggedInId)]
  const touchpoints = () =>
    warehouse.rows(
      'SELECT kind FROM touchpoint WHERE lower(hex(identity)) IN {identities:Array(String)}',
      {
        identities,
      }
    )
  const touchesBefore = await touchpoints()
  await requestErasure(warehouse, { publisherId: 10, identities })
  const rowContext = { openTrackingData, hashIdentity }
  await eraseDue({ warehouse, rowContext, settleMs: 0, visibilityMs: 0, log: silentLog })

  const again = await links.read(`https://t.example/click/${token}`)
  await links.refused(`${token}x`)

  assert.equal(touchesBefore.length, 2)
  assert.deepEqual(await touchpoints(), [])
  assert.equal(known.creditedPurchases, 1)
  assert.deepEqual(again, known)
  for (const text of [JSON.stringify(again), links.admin.log.text]) {
    for (const secret of [userId, userLoggedInId, token, ...identities]) {
      assert.ok(!text.includes(secret), secret)
    }
  }
})

async function announce(state: string, day: string): Promise<void> {
  await links.admin.warehouse.command(
    `INSERT INTO final_before VALUES ({day:Date}, {state:String}, now64(6))`,
    { state, day }
  )
}

test('of a day of serving that is final it is told that what came of it may be gone', async () => {
  const { token } = links.mint()
  await announce('announced', '2026-03-03')
  await announce('final', '2026-03-02')
  const known = await links.read(token)
  await announce('final', '2026-03-03')

  const again = await links.read(token)

  assert.deepEqual([known.isFinal, again.isFinal], [false, true])
})

test('both look-ups read along the order of their tables: one advertiser and day, and the days of the windows', async () => {
  const { token } = links.mint()
  const statements: string[] = []
  const opened = links.admin.openTrackingData(token)
  assert.ok(opened.ok)
  const readServedAd = createServedAdReader({
    barrier: () => Promise.resolve(),
    rows: async <Row>(
      sql: string,
      params?: Parameters<LinkReader['admin']['warehouse']['rows']>[1]
    ) => {
      if (sql.includes('ad_event') || sql.includes('attribution')) {
        const plan = await links.admin.warehouse.rows<{ explain: string }>(
          `EXPLAIN indexes = 1 ${sql}`,
          params
        )
        statements.push(plan.map(({ explain }) => explain).join('\n'))
      }
      return await links.admin.warehouse.rows<Row>(sql, params)
    },
  })

  await readServedAd(opened.data)

  const [events = '', credits = ''] = statements
  for (const column of ['advertiser_id', 'served_day', 'served_ad_id']) {
    assert.match(events, new RegExp(`PrimaryKey[\\s\\S]*${column}`), events)
  }
  assert.match(credits, /Partition[\s\S]*day/u, credits)
})
