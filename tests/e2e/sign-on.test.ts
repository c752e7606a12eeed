// A whole service behind a proxy that signs people in, and the same service for those who go around it.
import assert from 'node:assert/strict'
import { request } from 'node:http'
import { test, type TestContext } from 'node:test'
import { prepareService } from '../helpers/service.ts'
import { personHeader, sessionCookie, startSignOnProxy } from '../helpers/sign-on-proxy.ts'

const settings = {
  SHELFTRACE_TRUST_PROXY: 'true',
  SHELFTRACE_TRACKERS: '1',
  SHELFTRACE_TRUSTED_USER_HEADER: 'X-Forwarded-Email',
  SHELFTRACE_TRUSTED_USER_PROXIES: '127.0.0.1',
}

interface Asked {
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly method?: string
  readonly body?: object
  /** The address that the call comes from: all of 127.0.0.0/8 is this machine. */
  readonly localAddress?: string
}

async function ask({ url, headers = {}, method = 'GET', body, localAddress }: Asked) {
  return await new Promise<{ status: number; text: string }>((resolve, reject) => {
    const from = localAddress === undefined ? {} : { localAddress }
    const call = request(url, { method, headers: { ...headers }, ...from }, (answer) => {
      let text = ''
      answer.setEncoding('utf8')
      answer.on('data', (part: string) => (text += part))
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }))
    })
    call.once('error', reject)
    call.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

async function start(t: TestContext) {
  const service = await prepareService(t, { env: settings })
  await service.start()
  const proxy = await startSignOnProxy(service.campaignUrl)
  t.after(() => proxy.close())
  const admit = async (person: string, scopes: readonly string[]) =>
    await ask({
      url: `${service.campaignUrl}/admin/v1/people`,
      method: 'POST',
      headers: { authorization: `Bearer ${service.adminKey}` },
      body: { person, advertisers: 'all', scopes },
    })
  return { service, proxy, admit }
}

const page = { 'shelftrace-page': '1' }
const named = { [personHeader]: 'anna@example.com', ...page }

test('through the proxy a person has exactly what was given, from another address nothing, and a key works everywhere', async (t) => {
  const { service, proxy, admit } = await start(t)
  const cookie = { cookie: sessionCookie }
  const me = async (asked: Partial<Asked>) =>
    (await ask({ url: `${service.campaignUrl}/v2/me`, ...asked })).status
  const behind = `${proxy.url}/v2/me`

  assert.equal(await me({ url: behind, headers: { ...cookie, ...page } }), 403)
  assert.equal((await admit('Anna@example.com', ['report:read'])).status, 201)

  assert.equal(await me({ url: behind, headers: { ...cookie, ...page } }), 200)
  // The cookie alone is what another site can make a browser send.
  assert.equal(await me({ url: behind, headers: cookie }), 403)
  assert.equal(await me({ url: behind, headers: page }), 302)
  // What the caller writes is removed by the proxy, and is nobody's word without it.
  const forged = { ...cookie, ...page, [personHeader]: 'boss@example.com' }
  const { text } = await ask({ url: behind, headers: forged })
  assert.equal((JSON.parse(text) as { name: string }).name, 'anna@example.com')
  assert.equal(await me({ headers: named, localAddress: '127.0.0.2' }), 401)
  const forwarded = { ...named, 'x-forwarded-for': '127.0.0.1' }
  assert.equal(await me({ headers: forwarded, localAddress: '127.0.0.2' }), 401)
  const key = { authorization: `Bearer ${service.adminKey}` }
  assert.equal(await me({ headers: { ...named, ...key }, localAddress: '127.0.0.2' }), 200)
  assert.equal(await me({ url: behind, headers: { ...cookie, ...key } }), 200)

  const keys = `${proxy.url}/admin/v1/keys`
  assert.equal((await ask({ url: keys, headers: { ...cookie, ...page } })).status, 403)
})

test('on the tracking port the header counts for nothing, not even from the address of the proxy', async (t) => {
  const { service, admit } = await start(t)
  await admit('anna@example.com', ['admin'])
  const delivery = {
    user_id: 'u1',
    transaction_id: 't1',
    site_id: 101,
    publisher_id: 10,
    currency: 'EUR',
    products: [{ gtin: '4006381333931', price: 1, quantity: 1 }],
  }
  const url = `${service.trackingUrl}/conversion`

  const plain = await ask({ url, method: 'POST', body: delivery })
  const signedOn = await ask({ url, method: 'POST', body: delivery, headers: named })

  assert.deepEqual(signedOn, plain)
  for (const path of ['/v2/me', '/admin/v1/keys']) {
    assert.equal((await ask({ url: service.trackingUrl + path, headers: named })).status, 404)
  }
})

test('a header without the addresses of its proxy ends the start with an error that names the variable', async (t) => {
  const env = { SHELFTRACE_TRUSTED_USER_HEADER: 'X-Forwarded-Email' }
  const service = await prepareService(t, { env })

  await assert.rejects(service.start(), /SHELFTRACE_TRUSTED_USER_PROXIES must be set too/u)
})
