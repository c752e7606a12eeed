import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { servedAdLimits, type ServedAdReading } from '../../src/contract/served-ad.ts'
import { createIdentityHasher } from '../../src/domain/identity.ts'
import { Attributor } from '../../src/pipeline/attribute.ts'
import { eraseDue } from '../../src/pipeline/erase.ts'
import { requestErasure } from '../../src/pipeline/erasures.ts'
import { createServedAdReader } from '../../src/reports/served-ad.ts'
import {
  createKeyRing,
  createMinter,
  type ServedAd,
} from '../../src/tracking-data/tracking-data.ts'
import { createHistoryLoader } from '../helpers/history-warehouse.ts'
import type { HistoryAd, HistoryEvent } from '../helpers/history.ts'
import { placement } from '../helpers/placement.ts'
import { silentLog } from '../helpers/silent-log.ts'
import { aClick, anAd, aPurchase } from '../helpers/seal-scenario.ts'
import { adminKey, bearer, bundle, startAdmin, type AdminHarness } from './harness.ts'

const path = '/admin/v1/tracking-links/read'
const userId = 'raw-user-canary-0123456789'
const userLoggedInId = 'raw-login-canary-0123456789'
const servedAtMs = Date.UTC(2026, 2, 2, 12)
const hourMs = 3_600_000
const dayMs = 24 * hourMs

let admin: AdminHarness
let loader: ReturnType<typeof createHistoryLoader>
before(async () => {
  admin = await startAdmin()
  loader = createHistoryLoader(admin.warehouse, 0)
  const payload = JSON.stringify(bundle)
  await admin.app.inject({
    method: 'PUT',
    url: '/admin/v1/catalog',
    headers: bearer(adminKey),
    payload,
  })
})
after(() => admin.close())

const served: ServedAd = {
  ...placement,
  gtin: '4006381333931',
  groupId: 'GRP1',
  userId,
  userLoggedInId,
  currency: 'EUR',
  costPerClickMicros: 250_000n,
  costPerMilleMicros: 2_000_000n,
  landingUrl: 'https://shop.example/coffee?x=1',
  servedAtMs,
}

async function ask(body: unknown) {
  const payload = typeof body === 'string' ? body : JSON.stringify(body)
  const response = await admin.app.inject({
    method: 'POST',
    url: path,
    headers: { ...bearer(adminKey), 'content-type': 'application/json' },
    payload,
  })
  return { status: response.statusCode, text: response.body }
}

async function read(link: string): Promise<ServedAdReading> {
  const { status, text } = await ask({ link })
  assert.equal(status, 200, text)
  return JSON.parse(text) as ServedAdReading
}

async function refused(link: unknown): Promise<readonly string[]> {
  const { status, text } = await ask({ link })
  assert.equal(status, 422, text)
  return (JSON.parse(text) as { messages: readonly string[] }).messages
}

/** A token, and the same ad as the histories of the tests know it. */
function mint(changes: Partial<ServedAd> = {}): { readonly token: string; readonly ad: HistoryAd } {
  const ad = { ...served, ...changes }
  const { trackingData, servedAdId } = admin.mintAd(ad)
  const { landingUrl: _landing, ...rest } = ad
  const texts = { groupId: ad.groupId ?? '', userLoggedInId: ad.userLoggedInId ?? '' }
  return { token: trackingData, ad: anAd({ ...rest, ...texts, servedAtMs, servedAdId }) }
}

function anEvent(ad: HistoryAd, changes: Partial<HistoryEvent>): HistoryEvent {
  return { ...aClick(ad, servedAtMs), ...changes }
}

let deliveryCount = 0
const nextId = () => (deliveryCount += 1).toString(16).padStart(32, '0')

interface Person {
  readonly userId: string
  readonly userLoggedInId: string
}

function bought(transactionId: string, atMs: number, person: Person) {
  return { ...aPurchase({ atMs, transactionId, deliveryId: nextId() }), ...person }
}

async function attributeAll(): Promise<void> {
  const attributor = new Attributor({ warehouse: admin.warehouse, settleMs: 0 })
  while ((await attributor.attributeBatch()).hasMore);
}

test('tracking data of which nothing has come yet says what was served, for how much and how long it counts', async () => {
  const { token, ad } = mint()

  const { ad: said, ...rest } = await read(token)

  const { servedAdId, keyId, ...facts } = said
  assert.equal(servedAdId.replaceAll('-', ''), ad.servedAdId)
  assert.equal(keyId, Buffer.from(token, 'base64url').toString('hex', 1, 5))
  assert.deepEqual(facts, {
    ...placement,
    servedAt: '2026-03-02T12:00:00.000Z',
    gtin: '4006381333931',
    groupId: 'GRP1',
    currency: 'EUR',
    costPerClick: '0.25',
    costPerMille: '2',
    landingUrl: 'https://shop.example/coffee?x=1',
    userId: 'present',
    userLoggedInId: 'present',
  })
  assert.deepEqual(rest, {
    names: {
      publisher: 'Shop',
      site: 'D',
      market: 'DE',
      advertiser: 'Acme',
      campaign: 'Spring',
      adGroup: 'Coffee',
    },
    countsFrom: '2026-03-02T11:55:00.000Z',
    viewsCountUntil: '2026-03-03T12:00:00.000Z',
    clicksCountUntil: '2026-03-09T12:00:00.000Z',
    events: [],
    credits: [],
    creditsLeftOut: 0,
    creditedPurchases: 0,
    isFinal: false,
  })
})

test('every form in which a link is pasted leads to the same served ad', async () => {
  const { token } = mint()
  const known = await read(token)
  const plain = Buffer.from(token, 'base64url').toString('base64')
  const escaped = [...token].map((one) => `%${one.charCodeAt(0).toString(16)}`).join('')
  const links = [
    `https://track.example/click/${token}`,
    `http://127.0.0.1:8080/impression/${token}?x=1&y=/click/other#z`,
    `https://cdn.example/some/prefix/load/${token}/`,
    `/click/${token}`,
    `click/${token}`,
    `  ${token}\n`,
    `${token.slice(0, 60)}\r\n  ${token.slice(60)}`,
    `${token}?x=1`,
    plain,
    encodeURIComponent(plain),
    `https://track.example/click/${encodeURIComponent(plain)}`,
    escaped,
    `https://track.example/load/${escaped}`,
    `https://user:secret@track.example/click/click/${token}`,
  ]

  for (const link of links) assert.deepEqual(await read(link), known, link)
})

test('ids that the catalog does not have keep their numbers, and texts that name nobody are told as such', async () => {
  const strange = {
    publisherId: 99,
    siteId: 98,
    marketId: 97,
    advertiserId: 96,
    campaignId: 95,
    adGroupId: 94,
  }

  const one = await read(mint({ ...strange, userId: ' Anonymous ', userLoggedInId: '' }).token)
  const other = await read(mint({ siteId: 98, userLoggedInId: 'null' }).token)

  assert.equal(one.ad.advertiserId, 96)
  assert.deepEqual(new Set(Object.values(one.names)), new Set([null]))
  assert.deepEqual([one.ad.userId, one.ad.userLoggedInId], ['nobody', 'absent'])
  assert.deepEqual([other.ad.userId, other.ad.userLoggedInId], ['present', 'nobody'])
  assert.deepEqual([other.names.publisher, other.names.site], ['Shop', null])
})

test('what is no tracking data of this installation is refused with the field and the rule, and never repeated', async () => {
  const { token } = mint()
  const foreign = createMinter(createKeyRing()).mint(served).trackingData
  const bytes = Buffer.from(token, 'base64url')
  bytes.writeUInt8(bytes.readUInt8(40) ^ 1, 40)
  const cases: readonly (readonly [link: unknown, message: RegExp])[] = [
    [bytes.toString('base64url'), /^\/link must hold .* this was made elsewhere or changed$/],
    [`https://t.example/click/${foreign}`, /of a key in the key ring/],
    [token.slice(0, -1), /^\/link must hold/],
    [token.slice(0, 40), /whole and unchanged/],
    [`${token}é`, /whole and unchanged/],
    [`${token}${'A'.repeat(6_000)}`, /whole and unchanged/],
    ['hello', /whole and unchanged/],
    ['%00', /whole and unchanged/],
    ['https://t.example/', /behind \/impression\//],
    ['https://t.example/click', /behind \/impression\//],
    ['https://t.example/click/', /behind \/impression\//],
    [`https://t.example/clicks/${token}`, /behind \/impression\//],
    [`https://t.example/?u=/click/${token}`, /behind \/impression\//],
    ['mailto:somebody', /behind \/impression\//],
    ['   ', /behind \/impression\//],
    ['?', /behind \/impression\//],
    ['https://t.example/click/%zz', /percent escapes/],
    ['https://t.example/click/%ff', /percent escapes/],
    ['', /\/link must/],
    ['x'.repeat(servedAdLimits.linkLengthMax + 1), /\/link must/],
    [17, /\/link must/],
    [[token], /\/link must/],
    [null, /\/link must/],
    [undefined, /link/],
  ]
  for (const [link, message] of cases) {
    const [first = '', ...others] = await refused(link)
    assert.match(first, message)
    assert.deepEqual(others, [])
    assert.ok(!first.includes(token.slice(0, 20)) && !first.includes(foreign.slice(0, 20)))
  }
  for (const body of ['', '{', '[]', '"x"']) assert.equal((await ask(body)).status, 422, body)
})

test('the longest link that is taken is read, and so are two at once', async () => {
  const { token } = mint()
  const start = `https://t.example/click/${token}?`
  const longest = start.padEnd(servedAdLimits.linkLengthMax, 'x')

  const [one, other] = await Promise.all([read(longest), read(token)])

  assert.deepEqual(one, other)
})

test('events are told with their verdict at their earliest receipt, before and after the engine has merged repeats', async () => {
  const visitor = { userId: 'visitor', userLoggedInId: '' }
  const { token, ad } = mint(visitor)
  const neighbour = mint(visitor)
  await loader.ship([
    anEvent(ad, { kind: 'load', receivedAtMs: servedAtMs + 1_000 }),
    anEvent(ad, { kind: 'impression', receivedAtMs: servedAtMs + 3_000 }),
    anEvent(ad, { kind: 'click', receivedAtMs: servedAtMs + 9_000, userAgent: 'curl/8' }),
    anEvent(ad, { kind: 'click', receivedAtMs: servedAtMs + 8 * dayMs }),
    anEvent(neighbour.ad, { kind: 'click', receivedAtMs: servedAtMs + 5_000 }),
  ])
  await loader.ship([anEvent(ad, { kind: 'impression', receivedAtMs: servedAtMs + 2_000 })])

  const parted = await read(token)
  await admin.warehouse.command('OPTIMIZE TABLE ad_event FINAL')
  const merged = await read(token)

  assert.deepEqual(parted.events, [
    { kind: 'load', verdict: 'counted', receivedAt: '2026-03-02T12:00:01.000Z' },
    { kind: 'impression', verdict: 'counted', receivedAt: '2026-03-02T12:00:02.000Z' },
    { kind: 'click', verdict: 'bot', receivedAt: '2026-03-02T12:00:09.000Z' },
    { kind: 'click', verdict: 'expired', receivedAt: '2026-03-10T12:00:00.000Z' },
  ])
  assert.deepEqual(merged, parted)
})

const none = { CLK_14_DAYS: null, IMP_1_DAY: null, IMP_1_DAY_CLK_14_DAYS: null }

test('a purchase is listed under every ad that a profile credits, with the rule, and under no other', async () => {
  const person = { userId: 'somebody', userLoggedInId: '' }
  const clicked = mint(person)
  const seen = mint(person)
  const loser = mint(person)
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
    await read(clicked.token),
    await read(seen.token),
    await read(loser.token),
  ]

  const summary = ({ credits }: ServedAdReading) =>
    credits.map(({ transactionId, rules }) => [transactionId, rules])
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
    value: '20',
    currency: 'EUR',
    rules: direct,
  })
  assert.deepEqual([byClick.creditedPurchases, byClick.creditsLeftOut], [2, 0])
  assert.deepEqual(summary(byView), [['both', { ...none, IMP_1_DAY: 'view' }]])
  assert.deepEqual([summary(byNone), byNone.creditedPurchases], [[], 0])
})

test('the last instants at which a click and a view may earn a purchase are within reach', async () => {
  const person = { userId: 'late shopper', userLoggedInId: '' }
  const clicked = mint(person)
  const viewer = { userId: 'late viewer', userLoggedInId: '' }
  const seen = mint(viewer)
  const early = { userId: 'early shopper', userLoggedInId: '' }
  const midnight = Date.UTC(2026, 2, 2)
  const ahead = admin.mintAd({ ...served, ...early, servedAtMs: midnight })
  const aheadAd = anAd({ ...clicked.ad, ...early, ...ahead, servedAtMs: midnight })
  await loader.ship([
    aClick(clicked.ad, servedAtMs + 7 * dayMs),
    bought('last click', servedAtMs + 21 * dayMs, person),
    anEvent(seen.ad, { kind: 'impression', receivedAtMs: servedAtMs + dayMs }),
    bought('last view', servedAtMs + 2 * dayMs, viewer),
    aClick(aheadAd, midnight - 300_000),
    bought('before serving', midnight - 299_000, early),
  ])
  await attributeAll()

  const found = [await read(clicked.token), await read(seen.token), await read(ahead.trackingData)]

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
  const first = mint(person)
  const second = mint(person)
  const purchase = bought('moves on', servedAtMs + hourMs, person)
  const wrong = bought('wrong', servedAtMs + 2 * hourMs, person)
  await loader.ship([aClick(first.ad, servedAtMs + 1_000), purchase, wrong])
  await attributeAll()
  const before = await read(first.token)
  await loader.ship([aClick(second.ad, servedAtMs + 2_000)])
  const body = JSON.stringify({ deliveryId: wrong.deliveryId, reason: 'a test' })
  const voided = await admin.app.inject({
    method: 'POST',
    url: '/admin/v1/conversions/10/wrong/void',
    headers: bearer(adminKey),
    payload: body,
  })
  await attributeAll()

  const [loser, winner] = [await read(first.token), await read(second.token)]

  assert.equal(voided.statusCode, 200, voided.body)
  assert.equal(before.creditedPurchases, 2)
  assert.deepEqual(loser.credits, [])
  assert.deepEqual(
    winner.credits.map(({ transactionId }) => transactionId),
    ['moves on']
  )
})

test('of more credited lines than are listed the first are shown and the others counted', async () => {
  const person = { userId: 'hoarder', userLoggedInId: '' }
  const { token, ad } = mint(person)
  const line = { gtin: ad.gtin, groupId: '', brand: '', price: 1.5, quantity: 1 }
  const lines = Array.from({ length: 30 }, () => line)
  const purchases = Array.from({ length: 4 }, (_, index) => ({
    ...bought(`much ${index}`, servedAtMs + hourMs + index, person),
    lines,
  }))
  await loader.ship([aClick(ad, servedAtMs + 1_000), ...purchases])
  await attributeAll()

  const { credits, creditsLeftOut, creditedPurchases } = await read(token)

  assert.deepEqual([credits.length, creditsLeftOut, creditedPurchases], [100, 20, 4])
  assert.deepEqual(
    [credits[0], credits[99]].map((one) => [one?.transactionId, one?.line, one?.value]),
    [
      ['much 0', 1, '1.5'],
      ['much 3', 10, '1.5'],
    ]
  )
})

test('what stands under an ad stays there when its shopper is erased, and neither ids nor hashes leave with an answer or the log', async () => {
  const person = { userId, userLoggedInId }
  const { token, ad } = mint()
  await loader.ship([
    aClick(ad, servedAtMs + 1_000),
    bought('private', servedAtMs + hourMs, person),
  ])
  await attributeAll()
  const before = await read(token)
  const { warehouse, openTrackingData } = admin
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

  const after = await read(`https://t.example/click/${token}`)
  await refused(`${token}x`)

  assert.equal(touchesBefore.length, 2)
  assert.deepEqual(await touchpoints(), [])
  assert.equal(before.creditedPurchases, 1)
  assert.deepEqual(after, before)
  for (const text of [JSON.stringify(after), admin.log.text]) {
    for (const secret of [userId, userLoggedInId, token, ...identities]) {
      assert.ok(!text.includes(secret), secret)
    }
  }
})

test('of a day of serving that is final it is told that what came of it may be gone', async () => {
  const { token } = mint()
  const announce = (state: string, day: string) =>
    admin.warehouse.command(
      `INSERT INTO final_before VALUES ({day:Date}, {state:String}, now64(6))`,
      { state, day }
    )
  await announce('announced', '2026-03-03')
  await announce('final', '2026-03-02')
  const before = await read(token)
  await announce('final', '2026-03-03')

  const after = await read(token)

  assert.deepEqual([before.isFinal, after.isFinal], [false, true])
})

test('both look-ups read along the order of their tables: one advertiser and day, and the days of the windows', async () => {
  const { token } = mint()
  const statements: string[] = []
  const opened = admin.openTrackingData(token)
  assert.ok(opened.ok)
  const readServedAd = createServedAdReader({
    rows: async <Row>(sql: string, params?: Parameters<typeof admin.warehouse.rows>[1]) => {
      if (sql.includes('ad_event') || sql.includes('attribution')) {
        const plan = await admin.warehouse.rows<{ explain: string }>(
          `EXPLAIN indexes = 1 ${sql}`,
          params
        )
        statements.push(plan.map(({ explain }) => explain).join('\n'))
      }
      return await admin.warehouse.rows<Row>(sql, params)
    },
  })

  await readServedAd(opened.data)

  const [events = '', credits = ''] = statements
  for (const column of ['advertiser_id', 'served_day', 'served_ad_id']) {
    assert.match(events, new RegExp(`PrimaryKey[\\s\\S]*${column}`), events)
  }
  assert.match(credits, /Partition[\s\S]*day/u, credits)
})
