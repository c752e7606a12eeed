import assert from 'node:assert/strict'
import { createHmac, randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { after, before, beforeEach, test } from 'node:test'
import type { AlertChange } from '../../../src/ops/watch/watch.ts'
import { Webhook } from '../../../src/ops/watch/webhook.ts'
import { silentLog } from '../../helpers/silent-log.ts'
import { eventually } from '../../helpers/service.ts'

interface Received {
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

const secret = randomBytes(32)
let received: Received[] = []
let statuses: number[] = []
let server: Server
let url = ''

async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
  received.push({ headers: request.headers, body: await text(request) })
  const status = statuses.shift() ?? 204
  response.writeHead(status, status === 302 ? { location: '/elsewhere' } : {}).end()
}

before(async () => {
  server = createServer((request, response) => {
    take(request, response).catch(() => response.destroy())
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
})
after(() => server.close())
beforeEach(() => {
  received = []
  statuses = []
})

const change: AlertChange = {
  type: 'alert.firing',
  atMs: Date.UTC(2026, 2, 1, 12),
  alert: {
    name: 'ShelftraceSpoolLag',
    severity: 'page',
    since: '2026-03-01T11:55:00.000Z',
    summary: 'The oldest waiting event is 5 min old; reports are behind.',
  },
}

function openWebhook(target = url, log = silentLog): Webhook {
  return new Webhook({
    url: target,
    secret,
    node: 'node-1',
    log,
    clock: () => Date.UTC(2026, 2, 1, 12, 0, 1),
    pausesMs: [1, 1, 1],
  })
}

test('a message says what, where and since when, and its signature is that of Standard Webhooks', async () => {
  const webhook = openWebhook()
  webhook.tell(change)
  await eventually('the message came', () => Promise.resolve(received.length === 1))
  await webhook.close()

  const [{ headers, body } = { headers: {}, body: '' }] = received
  assert.deepEqual(JSON.parse(body), {
    type: 'alert.firing',
    timestamp: '2026-03-01T12:00:00.000Z',
    data: { ...change.alert, node: 'node-1' },
  })
  assert.match(String(headers['webhook-id']), /^msg_[0-9a-f-]{36}$/u)
  assert.equal(headers['webhook-timestamp'], '1772366401')
  const signed = `${String(headers['webhook-id'])}.1772366401.${body}`
  const expected = createHmac('sha256', secret).update(signed).digest('base64')
  assert.equal(headers['webhook-signature'], `v1,${expected}`)
})

test('a message that is not taken is sent again under its id, before the next one', async () => {
  statuses = [500, 302, 204, 204]
  const webhook = openWebhook()
  webhook.tell(change)
  webhook.tell({
    type: 'alert.resolved',
    atMs: change.atMs + 1,
    alert: { name: 'ShelftraceSpoolLag', severity: 'page', since: '', until: '' },
  })
  await eventually('all came', () => Promise.resolve(received.length === 4))
  await webhook.close()

  const ids = received.map(({ headers }) => headers['webhook-id'])
  assert.equal(new Set(ids.slice(0, 3)).size, 1)
  assert.notEqual(ids[3], ids[0])
  assert.match(received[3]?.body ?? '', /alert\.resolved/u)
})

test('a message that nobody takes is given up, and no log line holds the address', async () => {
  const lines: string[] = []
  const keep = (...values: readonly unknown[]) => lines.push(JSON.stringify(values))
  const log = Object.assign(Object.create(silentLog), { warn: keep, error: keep })
  const webhook = openWebhook('http://127.0.0.1:1/token-canary', log)

  webhook.tell(change)
  await eventually('it is given up', () =>
    Promise.resolve(lines.some((line) => line.includes('given up')))
  )
  await webhook.close()

  assert.equal(lines.length, 4)
  assert.ok(lines.every((line) => !line.includes('canary')))
})

test('closing does not wait for a message that is not taken', async () => {
  const webhook = new Webhook({
    url: 'http://127.0.0.1:1/',
    secret,
    node: 'node-1',
    log: silentLog,
    clock: () => 0,
    pausesMs: [3_600_000],
  })
  webhook.tell(change)
  await webhook.close()
})
