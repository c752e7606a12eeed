// The change of each row of the table by groups.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseGroupRequest } from '../../src/contract/group-request.ts'
import type { Row } from '../../dashboard/src/columns.ts'
import { baseRequestOf, changesIn } from '../../dashboard/src/group-base.ts'
import { tabNames } from '../../dashboard/src/groups.ts'
import { inCurrency, parseView } from '../../dashboard/src/view.ts'

const market = { newest: '2026-11-29', lastWhole: '2026-11-27', lastWholeOf: new Map() }
const days = 'from=2026-11-20&to=2026-11-26'
const viewOf = (query: string) => parseView(new URLSearchParams(`${days}&${query}`), market)
const row = (changes: Row): Row => ({ CURRENCY: 'EUR', CONVERSION_VALUE: '15.00', ...changes })

test('the other days are asked for the rows shown alone, under the filters of the table', () => {
  const view = inCurrency(viewOf('group=ad-groups&brand=Acme&page=3&size=10&columns=ORDERS'), 'EUR')
  const rows = [
    row({ AD_GROUP_ID: '7' }),
    row({ AD_GROUP_ID: '7', CURRENCY: 'GBP' }),
    row({ AD_GROUP_ID: '' }),
    row({ AD_GROUP_ID: '9' }),
  ]
  const request = baseRequestOf(view, rows)

  assert.deepEqual(request?.filters, [
    { field: 'BRAND', values: ['Acme'] },
    { field: 'AD_GROUP_ID', values: ['7', '9'] },
  ])
  assert.deepEqual([request.startDate, request.endDate], ['2026-11-13', '2026-11-19'])
  assert.deepEqual([request.page, request.withOrders, request.currency], [0, false, 'EUR'])
})

test('on every tab of groups the question is one that the service takes; rows of several kinds are not asked for', () => {
  const ids = { CAMPAIGN_ID: '1', AD_GROUP_ID: '2', GTIN: '3', BRAND: 'B', PUBLISHER_ID: '4' }
  for (const tab of tabNames) {
    for (const currency of ['EUR', 'all-EUR']) {
      const view = viewOf(`group=${tab}&currency=${currency}`)
      const request = baseRequestOf(view, [row({ ...ids, MARKET: 'DE' })])
      if (tab === 'rows') assert.equal(request, null)
      else assert.equal(parseGroupRequest(structuredClone(request)).ok, true, tab)
    }
  }
})

test('nothing is asked where nothing is compared, or no row has an id', () => {
  const rows = [row({ CAMPAIGN_ID: '7' })]
  assert.notEqual(baseRequestOf(viewOf(''), rows), null)
  assert.equal(baseRequestOf(viewOf('base=none'), rows), null)
  assert.equal(baseRequestOf(viewOf(''), [row({ CAMPAIGN_ID: '' })]), null)
  assert.equal(baseRequestOf(viewOf(''), []), null)
})

test('a row is compared with its own of the other days, and one that was not there is new, never from 0', () => {
  const changeOf = changesIn(viewOf(''), [
    row({ CAMPAIGN_ID: '1', CONVERSION_VALUE: '10.00' }),
    row({ CAMPAIGN_ID: '2', CONVERSION_VALUE: '0.00' }),
    row({ CAMPAIGN_ID: '3', CONVERSION_VALUE: null }),
    row({ CAMPAIGN_ID: '4', CURRENCY: 'GBP' }),
    row({ CAMPAIGN_ID: '', CONVERSION_VALUE: '10.00' }),
  ])
  assert.deepEqual(changeOf(row({ CAMPAIGN_ID: '1' })), {
    kind: 'change',
    change: 0.5,
    before: '10.00',
  })
  assert.deepEqual(changeOf(row({ CAMPAIGN_ID: '1', CONVERSION_VALUE: '0.00' })), {
    kind: 'change',
    change: -1,
    before: '10.00',
  })
  assert.deepEqual(changeOf(row({ CAMPAIGN_ID: '2' })), { kind: 'none-before' })
  assert.equal(changeOf(row({ CAMPAIGN_ID: '3' })), null)
  assert.equal(changeOf(row({ CAMPAIGN_ID: '1', CONVERSION_VALUE: null })), null)
  for (const other of ['4', '5']) {
    assert.deepEqual(changeOf(row({ CAMPAIGN_ID: other })), { kind: 'new' }, other)
  }
  // Rows without an id were not asked for, so they are not said to be new.
  assert.equal(changeOf(row({ CAMPAIGN_ID: '' })), null)
})

test('groups are told apart as the service does: products in any form of their GTIN, brands in any case', () => {
  const products = changesIn(viewOf('group=products'), [row({ GTIN: '049000000054' })])
  assert.equal(products(row({ GTIN: '00049000000054' }))?.kind, 'change')
  const brands = changesIn(viewOf('group=brands'), [row({ BRAND: 'SÖHNE' })])
  for (const name of ['Söhne', 'Söhne'.normalize('NFD')])
    assert.equal(brands(row({ BRAND: name }))?.kind, 'change')
  const moved = changesIn(viewOf('group=ad-groups'), [row({ AD_GROUP_ID: '7', CAMPAIGN_ID: '1' })])
  assert.equal(moved(row({ AD_GROUP_ID: '7', CAMPAIGN_ID: '1' }))?.kind, 'change')
  assert.equal(moved(row({ AD_GROUP_ID: '7', CAMPAIGN_ID: '2' }))?.kind, 'new')
})
