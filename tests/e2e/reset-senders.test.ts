import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { Intake } from '../../src/contract/intake.ts'
import { makeCertificate, writeCertificate } from '../helpers/certificate.ts'
import { sendAndReset } from '../helpers/reset-sender.ts'
import { eventually, prepareService } from '../helpers/service.ts'

const sendings = 200

// Trackers get their connections from another process, so even the head comes later than the reset.
test('through the processes of a service, none of many deliveries behind a reset is believed where a list exists', async (t) => {
  await assertNoneBelieved(t, {
    env: {},
    send: async (port, body) => await sendAndReset({ port, path: '/conversion' }, { body }),
  })
})

// Inflating ends in a later turn of the event loop, when the reset has long been noticed.
test('nor over TLS with bodies that take long to inflate', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'shelftrace-tls-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const pair = makeCertificate()

  await assertNoneBelieved(t, {
    env: writeCertificate(folder, pair),
    send: async (port, json, sent) => {
      const body = gzipSync(json.toString().padEnd(1_000_000))
      const target = { port, path: '/conversion', ca: pair.cert }
      await sendAndReset(target, { body, isGzip: true, waitMs: sent % 4 })
    },
  })
})

interface Senders {
  readonly env: Readonly<Record<string, string>>
  readonly send: (port: number, body: Buffer, sent: number) => Promise<void>
}

/** Sends forged purchases of a publisher that names its networks, each with a number of its own. */
async function assertNoneBelieved(t: TestContext, { env, send }: Senders): Promise<void> {
  const service = await prepareService(t, { env: { ...env, SHELFTRACE_SETTLE_MS: '200' } })
  await service.start()
  const loaded = await service.admin('PUT', '/admin/v1/catalog', {
    publishers: [{ id: 10, name: 'Shop', sites: [], conversionSources: ['203.0.113.0/24'] }],
  })
  assert.equal(loaded.status, 200)
  const port = Number(new URL(service.trackingUrl).port)
  const startDate = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)
  const endDate = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10)

  for (let sent = 0; sent < sendings; sent += 1) {
    const body = JSON.stringify({
      user_id: 'u1',
      transaction_id: `forged-${sent}`,
      site_id: 101,
      publisher_id: 10,
      currency: 'EUR',
      products: [{ gtin: '4006381333931', price: 999, quantity: 1 }],
    })
    await send(port, Buffer.from(body), sent)
  }

  let intake: Pick<Intake, 'days' | 'notBelieved'> = { days: [], notBelieved: [] }
  await eventually('all of them are judged', async () => {
    const path = `/v2/publishers/10/intake?startDate=${startDate}&endDate=${endDate}`
    intake = (await (await service.admin('GET', path)).json()) as Intake
    const { days: received } = intake
    return received.reduce((sum, { conversions }) => sum + conversions.received, 0) === sendings
  })
  const { days, notBelieved } = intake
  const believed = days.map(({ conversions }) => conversions.counted + conversions.waiting)
  assert.deepEqual(new Set(believed), new Set([0]))
  assert.deepEqual(
    notBelieved.map(({ reason, deliveries, values }) => ({ reason, deliveries, values })),
    [
      {
        reason: 'untrusted-source',
        deliveries: sendings,
        values: [{ currency: 'EUR', value: '199800.00' }],
      },
    ]
  )
}
