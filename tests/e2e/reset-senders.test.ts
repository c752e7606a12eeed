import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sendAndReset } from '../helpers/reset-sender.ts'
import { eventually, prepareService } from '../helpers/service.ts'

const sendings = 40

// Trackers get their connections from another process, so even the head comes later than the reset.
test('through the processes of a service, none of many deliveries behind a reset is believed where a list exists', async (t) => {
  const service = await prepareService(t, { env: { SHELFTRACE_SETTLE_MS: '200' } })
  await service.start()
  const loaded = await service.admin('PUT', '/admin/v1/catalog', {
    publishers: [{ id: 10, name: 'Shop', sites: [], conversionSources: ['203.0.113.0/24'] }],
  })
  assert.equal(loaded.status, 200)
  const port = Number(new URL(service.trackingUrl).port)

  for (let sent = 0; sent < sendings; sent += 1) {
    const body = JSON.stringify({
      user_id: 'u1',
      transaction_id: `forged-${sent}`,
      site_id: 101,
      publisher_id: 10,
      currency: 'EUR',
      products: [{ gtin: '4006381333931', price: 999, quantity: 1 }],
    })
    await sendAndReset({ port, path: '/conversion' }, { body: Buffer.from(body) })
  }

  const standings: string[] = []
  await eventually('all of them are judged', async () => {
    standings.length = 0
    for (let sent = 0; sent < sendings; sent += 1) {
      const answer = await service.admin('GET', `/admin/v1/conversions/10/forged-${sent}`)
      if (answer.status !== 200) return false
      standings.push(await answer.text())
    }
    return true
  })
  for (const text of standings) {
    assert.match(text, /untrusted-source/u)
    assert.doesNotMatch(text, /"standing":"counted"/u)
  }
})
