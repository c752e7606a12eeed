import assert from 'node:assert/strict'
import { request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { after, before, beforeEach, test } from 'node:test'
import { limits } from '../../../src/campaign/admin/backfill.ts'
import { ServiceError } from '../../../src/errors.ts'
import type { SpoolRecord } from '../../../src/spool/record.ts'
import { earlyToleranceMs } from '../../../src/domain/windows.ts'
import { adminKey, bearer, nowMs, startAdmin, type AdminHarness } from './harness.ts'

const appended: SpoolRecord[] = []
let inFlight = 0
let inFlightMax = 0
let failAfter = Infinity

const spool = {
  append: async (record: SpoolRecord) => {
    inFlight += 1
    inFlightMax = Math.max(inFlightMax, inFlight)
    await delay(1)
    inFlight -= 1
    if (appended.length >= failAfter) throw new ServiceError('SPOOL_FULL', 'full')
    appended.push(record)
  },
}

let admin: AdminHarness
let url: string

before(async () => {
  admin = await startAdmin({ spool })
  url = await admin.app.listen({ port: 0, host: '127.0.0.1' })
})
after(() => admin.close())
beforeEach(() => {
  appended.length = 0
  inFlightMax = 0
  failAfter = Infinity
})

const receivedAt = '2026-03-02T10:00:00.000Z'
const conversion = {
  user_id: 'u1',
  user_logged_in_id: 'l1',
  transaction_id: 't-1',
  site_id: 101,
  publisher_id: 10,
  currency: 'eur',
  products: [{ gtin: '4006381333931', price: 10.5, quantity: 2 }],
  unknown: 'ignored',
}

const sentBack = {
  publisher_id: 10,
  transaction_id: 't-1',
  return_id: 'r-1',
  products: [{ gtin: '4006381333931', quantity: 1, unknown: 'ignored' }],
}

function token(advertiserId = 1, changes: object = {}): string {
  return admin.mintAd({
    publisherId: 10,
    siteId: 101,
    marketId: 1,
    advertiserId,
    campaignId: 1001,
    adGroupId: 5001,
    gtin: 'x',
    userId: 'u1',
    currency: 'EUR',
    costPerClickMicros: 0n,
    costPerMilleMicros: 0n,
    ...changes,
  }).trackingData
}

interface Result {
  readonly accepted: number
  readonly refused: readonly { readonly line: number; readonly messages: readonly string[] }[]
  readonly refusedCount: number
}

async function load(lines: readonly (object | string)[], key = adminKey) {
  const texts = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line)))
  const response = await fetch(`${url}/admin/v1/events`, {
    method: 'POST',
    headers: { ...bearer(key), 'content-type': 'application/x-ndjson' },
    body: `${texts.join('\n')}\n`,
  })
  const result: Result = JSON.parse(await response.text())
  return { status: response.status, result }
}

test('events of the past are spooled with their own instants, ids hashed, tokens as they came', async () => {
  const trackingData = token()

  const { status, result } = await load([
    { type: 'impression', trackingData, receivedAt, userAgent: 'Mozilla/5.0' },
    { type: 'click', trackingData, receivedAt: '2026-03-02T11:00:00+01:00' },
    { type: 'load', trackingData, receivedAt },
    { type: 'conversion', receivedAt, conversion },
    { type: 'return', receivedAt, return: sentBack },
  ])

  assert.equal(status, 200)
  assert.deepEqual(result, { accepted: 5, refused: [], refusedCount: 0 })
  const receivedAtMs = Date.parse(receivedAt)
  const event = { type: 'ad-event', receivedAtMs, trackingData, userAgent: '', isPrefetch: false }
  assert.deepEqual(appended, [
    { ...event, kind: 'impression', userAgent: 'Mozilla/5.0' },
    { ...event, kind: 'click' },
    { ...event, kind: 'load' },
    {
      type: 'conversion',
      receivedAtMs,
      publisherId: 10,
      siteId: 101,
      transactionId: 't-1',
      userIdentity: admin.hashIdentity('user', 10, 'u1'),
      loginIdentity: admin.hashIdentity('login', 10, 'l1'),
      currency: 'EUR',
      lines: [{ gtin: '4006381333931', groupId: '', brand: '', price: 10.5, quantity: 2 }],
      origin: { kind: 'backfill' },
      presentedKey: 'none',
    },
    {
      type: 'return',
      receivedAtMs,
      publisherId: 10,
      transactionId: 't-1',
      returnId: 'r-1',
      lines: [{ gtin: '4006381333931', quantity: 1 }],
      origin: { kind: 'backfill' },
      presentedKey: 'none',
    },
  ])
})

test('lines that break a rule are told by number, and the others are taken', async () => {
  const good = { type: 'conversion', receivedAt, conversion }
  const trackingData = token()

  const { result } = await load([
    good,
    '',
    '{broken',
    { ...good, receivedAt: '2026-02-30T00:00:00Z' },
    { ...good, receivedAt: '1999-12-31T00:00:00Z' },
    { ...good, conversion: { ...conversion, products: [] } },
    { type: 'click', receivedAt, trackingData: `${trackingData.slice(0, -2)}AA` },
    { type: 'click', receivedAt },
    { type: 'purchase', receivedAt },
    '  \t\r',
    '[]',
    good,
    {
      ...good,
      conversion: {
        ...conversion,
        products: Array.from({ length: 10_001 }, () => conversion.products[0]),
      },
    },
  ])

  assert.equal(result.accepted, 2)
  assert.deepEqual(
    result.refused.map(({ line, messages }) => [line, messages[0]]),
    [
      [3, 'body must be valid JSON, broken at position 1'],
      [4, '/receivedAt must be an instant such as 2026-03-01T00:00:00Z'],
      [5, '/receivedAt must be from 2020-01-01 to 2100-01-01 UTC'],
      [6, '/conversion/products must have at least 1 item'],
      [7, '/trackingData must be the string that the ad server issued, unchanged'],
      [8, '/trackingData is required'],
      [9, '/type must be one of: impression, click, load, conversion, return'],
      [11, 'body must be object'],
      [13, '/conversion/products must have at most 10000 items'],
    ]
  )
})

test('what is said to be received later than a few minutes from now is refused by line', async () => {
  const latest = new Date(nowMs + earlyToleranceMs).toISOString()
  const ahead = new Date(nowMs + earlyToleranceMs + 1).toISOString()
  const click = { type: 'click', trackingData: token() }

  const { result } = await load([
    { ...click, receivedAt: latest },
    { ...click, receivedAt: ahead },
    { type: 'conversion', receivedAt: ahead, conversion },
    { type: 'return', receivedAt: '2099-12-31T00:00:00Z', return: sentBack },
  ])

  const messages = ['/receivedAt must not lie in the future']
  assert.deepEqual(result, {
    accepted: 1,
    refused: [2, 3, 4].map((line) => ({ line, messages })),
    refusedCount: 3,
  })
})

test('the longest token that the service mints is taken', async () => {
  const long = token(1, {
    gtin: '😀'.repeat(60),
    groupId: '😀'.repeat(60),
    userId: '😀'.repeat(128),
    userLoggedInId: '😁'.repeat(128),
    landingUrl: `https://shop.example/${'p'.repeat(2_000)}`,
  })

  const { result } = await load([{ type: 'click', trackingData: long, receivedAt }])

  assert.ok(long.length > 4_600, `${long.length} characters`)
  assert.deepEqual(result, { accepted: 1, refused: [], refusedCount: 0 })
})

test('a user agent is cut between characters, never within one', async () => {
  const userAgent = `${'a'.repeat(511)}😀`

  await load([{ type: 'click', trackingData: token(), receivedAt, userAgent }])

  assert.deepEqual(
    appended.map((record) => record.type === 'ad-event' && record.userAgent),
    ['a'.repeat(511)]
  )
})

test('a line that is too long is refused alone', async () => {
  const { result } = await load([
    { type: 'conversion', receivedAt, conversion },
    `"${'x'.repeat(1_048_576)}"`,
    { type: 'conversion', receivedAt, conversion },
  ])

  assert.equal(result.accepted, 2)
  assert.deepEqual(result.refused, [
    { line: 2, messages: ['the line must have at most 1048576 bytes'] },
  ])
})

test('a JSON array is refused once, as a file, however its lines are broken', async () => {
  const event = { type: 'conversion', receivedAt, conversion }
  for (const text of [
    JSON.stringify([event, event]),
    JSON.stringify([event, event], null, 2),
    `\uFEFF [\n${JSON.stringify(event)},\n${JSON.stringify(event)}\n]\n`,
  ]) {
    const { status, result } = await load([text])

    assert.equal(status, 422)
    assert.match(
      JSON.stringify(result),
      /"body is a JSON array and must be one JSON object a line"/u
    )
    assert.deepEqual(appended, [])
  }
})

test('more refused lines than are listed are counted', async () => {
  const lines = Array.from({ length: limits.refusedMax + 5 }, () => '{}')

  const { result } = await load(lines)

  assert.equal(result.refused.length, limits.refusedMax)
  assert.equal(result.refusedCount, limits.refusedMax + 5)
})

test('a file of any length waits for the disk: never more than the bound is in flight', async () => {
  const line = JSON.stringify({ type: 'conversion', receivedAt, conversion })
  const lines = Array.from({ length: 12_500 }, () => line)

  const { result } = await load(lines)

  assert.equal(result.accepted, 12_500)
  assert.equal(appended.length, 12_500)
  assert.ok(inFlightMax <= limits.inFlightMax, String(inFlightMax))
})

test('a full spool is answered 503, and what was taken before is recorded', async () => {
  failAfter = 3

  const { status } = await load(
    Array.from({ length: 9 }, () => ({ type: 'conversion', receivedAt, conversion }))
  )

  assert.equal(status, 503)
  assert.equal(appended.length, 3)
  const audits = await admin.audits()
  assert.ok(audits.some(({ subject }) => subject === '3 accepted, 0 refused'))
})

test('an upload that breaks off keeps what was accepted, and is no failure of ours', async () => {
  const line = `${JSON.stringify({ type: 'conversion', receivedAt, conversion })}\n`
  const sent = request(`${url}/admin/v1/events`, {
    method: 'POST',
    headers: bearer(adminKey),
    agent: false,
  })
  sent.on('error', () => {})
  for (let count = 0; count < limits.inFlightMax + 10; count += 1) sent.write(line)
  while (appended.length < limits.inFlightMax) await delay(5)
  sent.destroy()

  const subject = `${limits.inFlightMax} accepted, 0 refused`
  while (!(await admin.audits()).some((audit) => audit.subject === subject)) await delay(5)
  assert.equal(appended.length, limits.inFlightMax)
  const errors = admin.log.lines().filter(({ level }) => Number(level) >= 50)
  assert.ok(errors.every(({ err }) => JSON.stringify(err).includes('SPOOL_FULL')))
})

test('a key loads events of its own advertisers only, and only with the scope', async () => {
  const own = await admin.keyOf({ scopes: ['events:write'], advertisers: [1] })
  const reader = await admin.keyOf({ scopes: ['report:read'] })
  const events = [token(1), token(2)].map((trackingData) => ({
    type: 'click',
    trackingData,
    receivedAt,
  }))

  const { result } = await load(events, own)

  assert.equal(result.accepted, 1)
  assert.deepEqual(result.refused, [
    { line: 2, messages: ['/trackingData is of an advertiser that the key is not for'] },
  ])
  assert.equal((await load(events, reader)).status, 403)
  assert.equal((await load(events, 'unknown')).status, 401)
  assert.equal(appended.length, 1)
})

test('an empty file is a file without events', async () => {
  const response = await admin.app.inject({
    method: 'POST',
    url: '/admin/v1/events',
    headers: bearer(adminKey),
  })

  assert.deepEqual(response.json(), { accepted: 0, refused: [], refusedCount: 0 })
})
