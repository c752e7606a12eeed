import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Me } from '../../src/contract/me.ts'
import type { Intake } from '../../src/contract/intake.ts'
import { eventually, prepareService } from '../helpers/service.ts'

const publisher = { id: 10, name: 'Shop', sites: [] }

// The whole way of an integration: the key is made, presented, missing, and withdrawn.
test('an installation that requires keys counts what comes with one and shows the rest within seconds', async (t) => {
  const env = { SHELFTRACE_SETTLE_MS: '200', SHELFTRACE_REQUIRE_DELIVERY_KEY: 'true' }
  const service = await prepareService(t, { env })
  await service.start()
  await service.admin('PUT', '/admin/v1/catalog', { publishers: [publisher] })
  const scopes = ['delivery:write', 'intake:read']
  const made = await service.admin('POST', '/admin/v1/keys', {
    name: 'S',
    publishers: [10],
    scopes,
  })
  const { id, key } = (await made.json()) as { id: string; key: string }
  const bearer = { authorization: `Bearer ${key}` }

  const deliver = async (
    transaction: string,
    headers: Record<string, string>,
    publisherId = 10
  ) => {
    const response = await fetch(`${service.trackingUrl}/conversion`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({
        user_id: 'u1',
        transaction_id: transaction,
        site_id: 101,
        publisher_id: publisherId,
        currency: 'EUR',
        products: [{ gtin: '4006381333931', price: 10, quantity: 1 }],
      }),
    })
    assert.equal(response.status, 200)
  }
  const standingOf = async (transaction: string, publisherId = 10) => {
    const path = `/admin/v1/conversions/${publisherId}/${transaction}`
    const answer = await service.admin('GET', path)
    if (answer.status !== 200) return null
    const { deliveries } = (await answer.json()) as { deliveries: { standing: string }[] }
    return deliveries[0]?.standing ?? null
  }
  const becomes = async (transaction: string, standing: string, publisherId = 10) => {
    let last: string | null = null
    await eventually(`${transaction} is ${standing}`, async () => {
      last = await standingOf(transaction, publisherId)
      return last !== null
    })
    assert.equal(last, standing, transaction)
  }

  const me = await fetch(`${service.campaignUrl}/v2/me`, { headers: bearer })
  const { deliveries } = (await me.json()) as Me
  assert.deepEqual(deliveries, [
    { publisherId: 10, judgedAs: 'valid', requiresKey: true, hasSources: false },
  ])
  await deliver('keyed', bearer)
  await deliver('bare', {})
  await deliver('stranger', bearer, 11)
  await becomes('keyed', 'counted')
  await becomes('bare', 'unauthenticated')
  await becomes('stranger', 'unknown-publisher', 11)

  const revoked = await service.admin('DELETE', `/admin/v1/keys/${id}`)
  assert.equal(revoked.status, 204)
  await deliver('revoked', bearer)
  await becomes('revoked', 'unauthenticated')
  assert.equal(await standingOf('keyed'), 'counted')

  const today = new Date().toISOString().slice(0, 10)
  const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)
  const path = `/v2/publishers/10/intake?startDate=${yesterday}&endDate=${today}`
  const { notBelieved } = (await (await service.admin('GET', path)).json()) as Intake
  assert.deepEqual(
    notBelieved.map(({ reason, deliveries: count }) => [reason, count]),
    [['unauthenticated', 2]]
  )
})
