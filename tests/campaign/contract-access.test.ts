// Who may call the campaign operations of the interface, and what a caller learns who may not.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assetId } from './harness.ts'
import { assertRefused, openContractPort, type KeyName, type Sending } from './contract-port.ts'

const port = await openContractPort()
after(() => port.close())

interface Operation {
  readonly name: string
  readonly scope: string
  /** The only one with the scope. */
  readonly key: KeyName
  readonly success: number
  readonly call: (advertiserId: string) => Sending
  /** Everything that can be wrong below the key is wrong. */
  readonly wrongCall: (advertiserId: string) => Sending
  readonly absent: string
}

const range = { startDate: '2026-03-01', endDate: '2026-03-31' }
const operations: readonly Operation[] = [
  {
    name: 'the report',
    scope: 'report:read',
    key: 'reports',
    success: 200,
    call: (id) => report(id, range),
    wrongCall: (id) => ({ ...report(id, '{'), path: `${report(id, '').path}?locale=!` }),
    absent: 'There is no such advertiser.',
  },
  {
    name: 'the asset operation',
    scope: 'asset:write',
    key: 'assets',
    success: 201,
    call: (id) => attach(id, '1001/display/ad-groups/5001', { creativeSizeId: 1, assetId }),
    wrongCall: (id) => attach(id, 'x/display/ad-groups/-1', '{'),
    absent: 'There is no such ad group in this campaign of this advertiser.',
  },
  {
    name: 'site locations',
    scope: 'site:read',
    key: 'sites',
    success: 200,
    call: (id) => sites(id, '?publisherId=10&marketId=1'),
    wrongCall: (id) => sites(id, '?publisherId=x&adGroupType=x'),
    absent: 'There is no such advertiser.',
  },
]

function report(id: string, body: unknown): Sending {
  return { method: 'POST', path: `/v2/advertisers/${id}/reports/spa/product.csv`, body }
}

function attach(id: string, place: string, body: unknown): Sending {
  return { method: 'POST', path: `/display/v2/advertisers/${id}/campaigns/${place}/assets`, body }
}

function sites(id: string, query: string): Sending {
  return { method: 'GET', path: `/v2/advertisers/${id}/eligible/site-locations${query}` }
}

const missing = 'A key is required: Authorization: Bearer <key>.'
const malformed = 'The Authorization header must be of the form: Bearer <key>.'
const doubled = 'There must be one Authorization header only.'
const invalid = 'The key is not valid.'
const { own, expired, revoked } = port.keys

const strangers: readonly (readonly [
  name: string,
  authorization: string | readonly string[] | null,
  message: string,
])[] = [
  ['no header', null, missing],
  ['an empty header', '', malformed],
  ['a scheme alone', 'Bearer', malformed],
  ['a scheme and blanks', 'Bearer    ', malformed],
  ['a key alone', own, malformed],
  ['another scheme', `Basic ${own}`, malformed],
  ['a scheme that begins alike', `Bearers ${own}`, malformed],
  ['a tab for a blank', `Bearer\t${own}`, malformed],
  ['two keys', `Bearer ${own} ${own}`, malformed],
  ['two keys with a comma', `Bearer ${own}, Bearer ${own}`, malformed],
  ['a key in quotes', `Bearer "${own}"`, malformed],
  ['two headers, both good', [`Bearer ${own}`, `Bearer ${own}`], doubled],
  ['two headers, the second good', ['Bearer x', `Bearer ${own}`], doubled],
  ['two headers, the first good', [`Bearer ${own}`, 'Basic x'], doubled],
  ['an unknown key', `Bearer st_${'A'.repeat(43)}`, invalid],
  ['a key cut short', `Bearer ${own.slice(0, -1)}`, invalid],
  ['a key with a letter more', `Bearer ${own}A`, invalid],
  ['a key in the other case', `Bearer ${own.toUpperCase()}`, invalid],
  ['a very long key', `Bearer ${'A'.repeat(16_000)}`, invalid],
  ['an expired key', `Bearer ${expired}`, invalid],
  ['a revoked key', `Bearer ${revoked}`, invalid],
]

for (const operation of operations) {
  const { name, success, call, wrongCall, absent } = operation

  for (const [stranger, authorization, message] of strangers) {
    test(`${name}: ${stranger} is 401, whatever else is wrong`, async () => {
      const headers: Sending['headers'] = authorization === null ? {} : { authorization }
      for (const sending of [call('1'), wrongCall('1'), wrongCall('999'), wrongCall('x')]) {
        assertRefused(await port.send({ ...sending, key: null, headers }), 401, [message])
      }
    })
  }

  test(`${name}: the scheme is taken in any case and after any number of blanks`, async () => {
    for (const scheme of ['Bearer ', 'bearer ', 'BEARER ', 'bEaReR    ']) {
      const headers = { authorization: `${scheme}${own}` }
      assert.equal((await port.send({ ...call('1'), key: null, headers })).status, success)
    }
  })

  test(`${name}: the scope and the advertiser are enough, and so is admin for all`, async () => {
    for (const key of [operation.key, 'own', 'everyone', 'admin'] as const) {
      assert.equal((await port.send({ ...call('1'), key })).status, success, key)
    }
  })

  test(`${name}: a key without the scope is 403, whatever else is wrong`, async () => {
    const others = ['reports', 'assets', 'sites', 'metrics'] as const
    const message = `The key does not have the scope ${operation.scope}.`
    for (const key of others.filter((other) => other !== operation.key)) {
      for (const sending of [call('1'), call('2'), wrongCall('1'), wrongCall('x')]) {
        assertRefused(await port.send({ ...sending, key }), 403, [message])
      }
    }
  })

  test(`${name}: a key of another advertiser is 403 alike, whether or not the advertiser exists`, async () => {
    for (const id of ['1', '999', '0', '-2', '02', '+2', '2.0', '2147483648', 'x', '%20', '2%00']) {
      for (const sending of [call(id), wrongCall(id)]) {
        const reply = await port.send({ ...sending, key: 'rival' })
        assertRefused(reply, 403, ['The key is not for this advertiser.'])
      }
    }
  })

  test(`${name}: an advertiser that does not exist is 404 for a key for all, before 422`, async () => {
    const ids = ['999', '0', '-1', '01', '+1', '1.0', '1e0', '0x1', '2147483648', '4294967297']
    for (const id of [...ids, '9'.repeat(400), 'x', '%20', '%201', '1%2F2', '١', '1;x=1', 'NaN']) {
      for (const sending of [call(id), wrongCall(id)]) {
        const path = sending.path.replace('١', encodeURIComponent('١'))
        const reply = await port.send({ ...sending, path, key: 'everyone' })
        assertRefused(reply, 404, [absent])
      }
    }
  })
}

test('what is wrong in the request is told last, when all before it is right', async () => {
  const statuses = await Promise.all([
    port.send(report('1', '{')),
    port.send(attach('1', '1001/display/ad-groups/5001', '{')),
    port.send(sites('1', '?publisherId=x')),
  ])

  assert.deepEqual(
    statuses.map(({ status }) => status),
    [422, 422, 422]
  )
})

test('nothing was attached by anyone who was refused', () => {
  const assignments = [...port.catalog.current().assignments.values()]
  assert.deepEqual(assignments, [{ adGroupId: 5001, creativeSizeId: 1, assetId }])
})
