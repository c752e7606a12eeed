// A misspelt `dryRun` must not write, and a misspelt `compromisedSince` must not be left out.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { operations } from '../../../src/contract/operations.ts'
import { adminKey, bearer, bundle, startAdmin, type AdminHarness } from './harness.ts'

let admin: AdminHarness
let keyId = ''

before(async () => {
  admin = await startAdmin()
  await admin.catalog.apply(bundle as Parameters<typeof admin.catalog.apply>[0])
  const everybody = { advertisers: 'all', publishers: 'all', scopes: ['admin'] } as const
  keyId = (await admin.keys.create({ name: 'n', ...everybody })).id
})
after(() => admin.close())

/** What the paths name has to be there; of a purchase, 404 would be told first. */
const places = (): Readonly<Record<string, string>> => ({
  '/admin/v1/markets/{id}/products': '/admin/v1/markets/1/products',
  '/admin/v1/keys/{id}': `/admin/v1/keys/${keyId}`,
})

const changing = operations.filter(
  ({ tag, method, path }) =>
    tag === 'Admin' && method !== 'get' && !path.includes('{transactionId}')
)
assert(changing.length > 10, 'there are operations to try')

const unknown = 'a query parameter is not known here; '
const near = 'query parameter dry_Run is not known here; did you mean dryRun?'
const expected: Readonly<Record<string, readonly string[]>> = {
  putCatalog: [near, `${unknown}known are dryRun`],
  putProducts: [near, `${unknown}known are dryRun, replace`],
  revokeKey: [`${unknown}known are compromisedSince`],
}

for (const { operationId, method, path } of changing) {
  test(`${operationId}: an unknown query parameter is refused, and nothing is done`, async () => {
    const key = operationId === 'acceptInvitation' ? await invitation() : adminKey
    const audits = await admin.audits()
    const response = await admin.app.inject({
      method: method === 'put' ? 'PUT' : method === 'delete' ? 'DELETE' : 'POST',
      url: `${places()[path] ?? path}?dry_Run=true&%3Cb%3E=1`,
      headers: bearer(key),
      ...(method === 'delete' ? {} : { payload: '{}' }),
    })
    const { messages } = response.json<{ messages: readonly string[] }>()
    assert.equal(response.statusCode, 422, messages.join())
    const own = messages.filter((message) => message.includes('query parameter'))
    assert.deepEqual(own, expected[operationId] ?? [`${unknown}there is none`])
    assert.deepEqual(await admin.audits(), audits)
  })
}

async function invitation(): Promise<string> {
  const wish = { name: 'n', advertisers: [1], scopes: ['report:read'] }
  const { json } = await admin.call('POST', '/admin/v1/invitations', wish)
  return String(json['code'])
}

test('operations that only read ignore what others append to their address', async () => {
  const { status } = await admin.call('GET', '/admin/v1/status?utm_source=mail')
  assert.equal(status, 200)
})
