// Every operation of both ports with right and wrong input, at the most talkative useful log level:
// no answer and no line of the log may hold what only its owner should know.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { operations } from '../../src/contract/operations.ts'
import type { Operation } from '../../src/contract/operation.ts'
import { openEmbeddedWarehouse } from '../../src/warehouse/embedded.ts'
import { findText } from '../helpers/find-text.ts'
import { eventually, prepareService, type Service } from '../helpers/service.ts'
import { placement } from '../helpers/placement.ts'
import { aBundle } from '../helpers/bundle.ts'

interface Sent {
  readonly path: string
  readonly key: string | null
  readonly body?: string
}

interface Received {
  readonly operationId: string
  readonly status: number
  /** Headers and body. */
  readonly text: string
}

const userId = 'raw-user-canary-0123456789'
const loginId = 'raw-login-canary-0123456789'
const wrongKey = 'st_wrong-key-canary-0123456789'
const wrongToken = 'WrongTokenCanary0123456789'
/** What a caller puts where it does not belong: perhaps a key, perhaps a name. */
const stray = 'stray-canary-0123456789'
const browser = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'

const link = {
  ...placement,
  gtin: '4006381333931',
  userId,
  userLoggedInId: loginId,
  landingUrl: 'https://shop.example/coffee',
}
const conversion = {
  user_id: userId,
  user_logged_in_id: loginId,
  transaction_id: 't1',
  site_id: 101,
  publisher_id: 10,
  currency: 'EUR',
  products: [{ gtin: '4006381333931', price: 1, quantity: 1 }],
}
const days = 'startDate=2026-03-01&endDate=2026-03-31'

const closers: (() => Promise<void>)[] = []
const received: Received[] = []
let service: Service
let key = ''
let invitation = ''
let token = ''
let revocableId = ''

before(async () => {
  const lifetime = { after: (close: () => Promise<void>) => closers.push(close) }
  const env = { SHELFTRACE_LOG_LEVEL: 'debug', SHELFTRACE_TRACKERS: '1' }
  service = await prepareService(lifetime, { env })
  await service.start()
  await service.admin('PUT', '/admin/v1/catalog', aBundle())
  const scopes = ['admin', 'intake:read']
  const request = { name: 'e2e', advertisers: 'all', publishers: 'all', scopes }
  const made = await service.admin('POST', '/admin/v1/keys', request)
  const { key: text } = (await made.json()) as { key: string }
  key = text
  const other = await service.admin('POST', '/admin/v1/keys', request)
  revocableId = ((await other.json()) as { id: string }).id
  const invited = await service.admin('POST', '/admin/v1/invitations', request)
  invitation = ((await invited.json()) as { code: string }).code
  const minted = await service.admin('POST', '/admin/v1/tracking-links', { links: [link] })
  const { links } = (await minted.json()) as { links: { trackingData: string }[] }
  token = links[0]?.trackingData ?? assert.fail('a link was minted')
})
after(async () => {
  for (const close of closers) await close()
})

/** Right input by operation; one that is not listed gets ids that exist and no query or body. */
function rightInput({ operationId }: Operation): {
  readonly query?: string
  readonly body?: string
} {
  const event = { receivedAt: '2026-03-02T10:00:00Z' }
  const inputs: Readonly<Record<string, { readonly query?: string; readonly body?: object }>> = {
    deliverConversion: { body: conversion },
    deliverReturn: { body: { ...conversion, return_id: 'r-1' } },
    downloadSpaProductReport: { body: { startDate: '2026-03-01', endDate: '2026-03-31' } },
    readSpaProductReport: { body: { startDate: '2026-03-01', endDate: '2026-03-31' } },
    addDisplayAdGroupAsset: {
      body: { creativeSizeId: 1, assetId: '3f2504e0-4f89-41d3-9a0c-0305e82c3301' },
    },
    listEligibleSiteLocations: { query: 'publisherId=10&marketId=1' },
    readIntake: { query: days },
    listUnconverted: { query: days },
    downloadTrafficQuality: { query: days },
    putCatalog: { body: aBundle() },
    createKey: { body: { name: 'n', advertisers: [1], scopes: ['site:read'] } },
    inviteKeyHolder: { body: { name: 'n', advertisers: [1], scopes: ['site:read'] } },
    mintTrackingLinks: { body: { links: [link] } },
    readTrackingLink: { body: { link: `https://track.example/click/${token}` } },
    requestErasure: { body: { publisherId: 10, userId, userLoggedInId: loginId } },
    readAudit: { query: 'limit=1000' },
    backfillEvents: { body: { type: 'conversion', ...event, conversion } },
  }
  const { query, body } = inputs[operationId] ?? {}
  return {
    ...(query !== undefined && { query }),
    ...(body !== undefined && { body: JSON.stringify(body) }),
  }
}

const ids: Readonly<Record<string, string>> = {
  advertiserId: '1',
  publisherId: '10',
  campaignId: '1001',
  adGroupId: '5001',
  marketId: '1',
}

function fill({ path }: Operation, valueOf: (name: string) => string): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => valueOf(name))
}

function rightCall(operation: Operation): Sent {
  const { query, body } = rightInput(operation)
  const path = fill(operation, (name) => {
    if (name === 'trackingData') return token
    return name === 'id' ? revocableId : (ids[name] ?? 'x')
  })
  return {
    path: query === undefined ? path : `${path}?${query}`,
    key: keyFor(operation),
    ...(body !== undefined && { body }),
  }
}

function keyFor({ access, operationId }: Operation): string | null {
  if (access === null) return null
  return operationId === 'acceptInvitation' ? invitation : key
}

function wrongCalls(operation: Operation): readonly Sent[] {
  const right = rightCall(operation)
  const strayPath = fill(operation, (name) => (name === 'trackingData' ? wrongToken : stray))
  const strayBody = JSON.stringify({
    ...conversion,
    site_id: loginId,
    currency: stray,
    // No name of a backup, which may be any plain word and is told to whoever lists them.
    name: `${stray}!`,
    advertisers: stray,
    scopes: [stray],
    filters: [{ field: stray, values: [{ value: [userId] }] }],
    startDate: stray,
    links: [{ ...link, costPerClick: stray, landingUrl: `x:${userId}` }],
    trackingData: wrongToken,
    link: `https://track.example/click/${wrongToken}?user=${userId}`,
    campaigns: [{ id: stray }],
  })
  return [
    { ...right, key: wrongKey },
    { ...right, key: `${stray} ${wrongKey}` },
    { ...right, key: null },
    { ...right, path: `${fill(operation, () => token)}?token=${token}&key=${key}` },
    { ...right, path: `${strayPath}?${stray}=${userId}&startDate=${stray}&locale=${stray}` },
    { ...right, path: `${strayPath}/${stray}/%ff` },
    { ...right, body: `{"${userId}": "${stray}` },
    { ...right, body: strayBody },
    { ...right, body: `"${wrongToken}"` },
    // Larger than any body may be that is not a stream.
    { ...right, body: JSON.stringify({ ...conversion, user_id: userId.repeat(100_000) }) },
  ]
}

async function send(operation: Operation, { path, key: ownKey, body }: Sent): Promise<void> {
  for (const port of operation.ports) {
    const base = port === 'tracking' ? service.trackingUrl : service.campaignUrl
    const isBodyless = operation.method === 'get' || operation.method === 'head'
    const response = await fetch(`${base}${path}`, {
      method: operation.method.toUpperCase(),
      redirect: 'manual',
      headers: {
        'user-agent': browser,
        cookie: `session=${stray}`,
        'x-forwarded-for': stray,
        ...(ownKey !== null && { authorization: `Bearer ${ownKey}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && !isBodyless && { body }),
    })
    const text = [...response.headers].join('\n') + (await response.text())
    received.push({ operationId: operation.operationId, status: response.status, text })
  }
}

// Revoking comes last: it is the one right call that takes something from the others.
const inOrder = [
  ...operations.filter(({ method }) => method !== 'delete'),
  ...operations.filter(({ method }) => method === 'delete'),
]
for (const operation of inOrder) {
  test(`${operation.method} ${operation.path} answers right and wrong input without a failure`, async () => {
    const from = received.length
    await send(operation, rightCall(operation))
    for (const call of wrongCalls(operation)) await send(operation, call)

    const statuses = received.slice(from).map(({ status }) => status)
    assert.ok(statuses[0] !== 401 && statuses[0] !== 403, 'the right call may be made')
    assert.ok(
      statuses.every((status) => status < 500),
      statuses.join(' ')
    )
  })
}

test('no answer holds a key, a token or a raw id but the two whose purpose it is', () => {
  const made = received.filter(
    ({ operationId, status }) => operationId === 'createKey' && status === 201
  )
  const minted = received.filter(
    ({ operationId, status }) => operationId === 'mintTrackingLinks' && status === 200
  )
  assert.ok(made.length > 0 && minted.length > 0)
  const secrets = {
    key,
    admin: service.adminKey,
    invitation,
    token,
    userId,
    loginId,
    wrongKey,
    wrongToken,
    stray,
  }

  const found = received.flatMap(({ operationId, status, text }) =>
    Object.entries(secrets)
      .filter(([, secret]) => text.includes(secret))
      .map(([name]) => `${operationId} ${status}: ${name}`)
  )

  assert.deepEqual(found, [])
  const newKeys = made.map(({ text }) => /"key":"(st_[^"]+)"/.exec(text)?.[1] ?? '')
  for (const newKey of newKeys) {
    assert.match(newKey, /^st_/)
    assert.equal(received.filter(({ text }) => text.includes(newKey)).length, 1)
  }
})

test('no line of the log and no file holds a key or a raw id, and the log holds no token', async () => {
  await eventually('everything is shipped', async () => {
    const response = await service.admin('GET', '/admin/v1/status')
    return ((await response.json()) as { spool: { bytes: number } }).spool.bytes === 0
  })
  const { adminKey, dataDir } = service
  await service.terminate()
  const madeKeys = received.flatMap(({ text }) => text.match(/st_[A-Za-z0-9_-]{43}/g) ?? [])
  const rawIds = [userId, loginId]
  const minted = received.flatMap(({ text }) => text.match(/"trackingData":"[^"]+/g) ?? [])
  const tokens = [token, ...minted.map((part) => part.slice('"trackingData":"'.length))]
  assert.ok(tokens.length > 1)
  const keys = [key, adminKey, invitation, wrongKey, ...madeKeys]

  const log = service.stderr + service.stdout
  assert.ok(log.includes('"msg":"request"'), 'the log is at level debug')
  for (const secret of [...keys, ...rawIds, ...tokens, wrongToken, stray]) {
    assert.ok(!log.includes(secret), secret)
  }
  for (const secret of [...keys, ...rawIds]) {
    const args = ['-rlaF', '--exclude=admin-key', secret, dataDir]
    assert.equal(spawnSync('grep', args, { encoding: 'utf8' }).stdout, '', secret)
  }
  // The files of the warehouse are compressed, so its columns are searched as well.
  const warehouse = openEmbeddedWarehouse({ path: join(dataDir, 'warehouse') })
  closers.unshift(() => warehouse.close())
  const [events] = await warehouse.rows<{ count: number }>('SELECT count() AS count FROM ad_event')
  assert.ok((events?.count ?? 0) > 0, 'events went through')
  for (const secret of [...keys, ...rawIds]) {
    assert.deepEqual(await findText(warehouse, secret), [], secret)
  }
})
