// The examples of the OpenAPI document, sent to a whole service that was set up with the catalog among them.
// Only what a service hands out itself is put in the place of the example: tokens and the ids of what was made.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, after, test } from 'node:test'
import { catalog } from '../../src/contract/examples/catalog.ts'
import * as shown from '../../src/contract/examples/example.ts'
import { examples } from '../../src/contract/examples/examples.ts'
import type { Operation } from '../../src/contract/operation.ts'
import { operations } from '../../src/contract/operations.ts'
import { exceptionResponseSchema } from '../../src/contract/responses.ts'
import { compile } from '../../src/contract/validate.ts'
import { eventually, prepareService, type Service } from '../helpers/service.ts'

interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

const closers: (() => Promise<void> | void)[] = []
/** In place of a key, for the one call that takes it. */
let invitation = ''
/** What stands in the examples, and what stands for it in this service. */
const made = new Map<string, string>()
let service: Service

before(async () => {
  const backups = mkdtempSync(join(tmpdir(), 'shelftrace-examples-'))
  closers.push(() => rmSync(backups, { recursive: true, force: true }))
  const lifetime = { after: (close: () => Promise<void>) => closers.unshift(close) }
  service = await prepareService(lifetime, { env: { SHELFTRACE_BACKUP_DIR: backups } })
  await service.start()
  await call('putCatalog', { query: {} })
  await mintOldAd()
})
after(async () => {
  for (const close of closers) await close()
})

/** Whose click earns the purchase of the backfill. */
async function mintOldAd(): Promise<void> {
  const [link] = Object(examples['mintTrackingLinks']?.body).links
  const old = { ...link, servedAt: '2026-03-02T10:00:00.000Z' }
  const reply = await call('mintTrackingLinks', { body: { links: [old] } })
  const { trackingData } = JSON.parse(reply.text).links[0]
  const click = { type: 'click', trackingData, receivedAt: '2026-03-02T10:00:30.000Z' }
  const userAgent = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
  await call('backfillEvents', { body: `${JSON.stringify({ ...click, userAgent })}\n` })
}

/** Those that make something go before those that ask for it, and the revocation is last. */
const first = ['mintTrackingLinks', 'backfillEvents', 'deliverConversion', 'requestJudgement']
const order = [
  ...first,
  'requestErasure',
  'createKey',
  ...operations.map(({ operationId }) => operationId),
]

for (const operationId of new Set(order)) {
  test(`the example of ${operationId} is answered as it is documented`, async () => {
    const operation = operationOf(operationId)
    const success = operation.responses.filter(({ codes }) => codes === undefined)
    let reply = await call(operationId)
    if (isOnItsWay(reply.status)) {
      await eventually(`${operationId} finds what was sent`, async () => {
        reply = await call(operationId)
        return !isOnItsWay(reply.status)
      })
    }

    const documented = success.find(({ status }) => status === String(reply.status))
    assert.ok(documented !== undefined, `${reply.status} ${reply.text}`)
    for (const [name, { required }] of Object.entries(documented.headers ?? {})) {
      assert.ok(required !== true || reply.headers.has(name), name)
    }
    if (documented.content === null) assert.equal(reply.text, '')
    if (documented.content?.mediaType === 'application/json') {
      assert.deepEqual(compile(documented.content.schema)(JSON.parse(reply.text)), [])
    }
    learn(operationId, reply.text)
  })
}

test('an unknown field is refused by name and code, except in what a shop delivers', async () => {
  const isDelivery = new Set(['deliverConversion', 'deliverReturn'])
  for (const { operationId, body } of operations) {
    if (body === null || body.isStream) continue
    const sent = { ...Object(examples[operationId]?.body), nmae: 1 }
    const { status, headers, text } = await call(operationId, { body: sent })
    if (isDelivery.has(operationId)) assert.equal(status, 200)
    else assert.match(`${status} ${text}`, /^422 .*\/nmae is not known here/u, operationId)
    const code = isDelivery.has(operationId) ? null : 'REQUEST_INVALID'
    assert.equal(headers.get('shelftrace-error-code'), code)
  }
})

test('a refusal says why in the same shape, whatever the operation', async () => {
  const isRefusal = compile(exceptionResponseSchema)
  for (const { operationId, path, method, access } of operations) {
    if (access === null) continue
    const url = `${service.campaignUrl}${path.replaceAll(/[{}]/g, '')}`
    const reply = await fetch(url, { method })
    assert.equal(reply.status, 401, operationId)
    assert.equal(reply.headers.get('shelftrace-error-code'), 'KEY_MISSING')
    assert.deepEqual(isRefusal(await reply.json()), [])
  }
})

/** What was sent a moment ago is on its way to the warehouse. */
function isOnItsWay(status: number): boolean {
  return status === 404 || status === 503
}

function operationOf(operationId: string): Operation {
  const found = operations.find((operation) => operation.operationId === operationId)
  return found ?? assert.fail(operationId)
}

async function call(operationId: string, changes: Partial<shown.Example> = {}): Promise<Reply> {
  const { method, path, ports } = operationOf(operationId)
  const example = { ...examples[operationId], ...changes }
  const query = new URLSearchParams(
    Object.entries(example.query ?? {}).map(([name, value]): [string, string] => [
      name,
      String(value),
    ])
  )
  const address = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(example.path?.[name]))
  )
  const base = ports[0] === 'tracking' ? service.trackingUrl : service.campaignUrl
  const { body } = example
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
  const response = await fetch(replaced(`${base}${address}?${query.toString()}`), {
    method: method.toUpperCase(),
    redirect: 'manual',
    headers: { authorization: `Bearer ${keyOf(operationId)}` },
    ...(text !== undefined && { body: replaced(text) }),
  })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

function keyOf(operationId: string): string {
  return operationId === 'acceptInvitation' ? invitation : service.adminKey
}

function replaced(text: string): string {
  return [...made].reduce((all, [example, own]) => all.replaceAll(example, own), text)
}

/** The tokens and ids of this service, from the answers that hand them out. */
function learn(operationId: string, text: string): void {
  if (operationId === 'mintTrackingLinks') {
    made.set(shown.trackingData, JSON.parse(text).links[0].trackingData)
  }
  if (operationId === 'inviteKeyHolder') invitation = JSON.parse(text).code
  if (operationId === 'createKey') made.set(shown.keyId, JSON.parse(text).id)
  if (operationId === 'requestErasure') made.set(shown.erasureId, JSON.parse(text).id)
  if (operationId === 'requestJudgement') made.set(shown.judgementId, JSON.parse(text).id)
  if (operationId === 'explainConversion') {
    made.set(shown.deliveryId, JSON.parse(text).countedDeliveryId)
  }
}

test('the catalog of the examples is the one that the service was set up with', async () => {
  const { products: _products, ...entries } = catalog
  const stored = JSON.parse((await call('getCatalog')).text)

  assert.deepEqual(Object.keys(stored).toSorted(), Object.keys(entries).toSorted())
})
