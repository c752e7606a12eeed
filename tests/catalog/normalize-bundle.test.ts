import assert from 'node:assert/strict'
import { test } from 'node:test'
import { normalizeBundle } from '../../src/catalog/normalize-bundle.ts'

test('texts of products stay as they came, and those of blanks only are none', () => {
  const product = { marketId: 1, gtin: ' 4006381333931 ', title: '\t=1+1 ' }
  const named = { ...product, brand: ' Nescafé ', groupId: '\r=1+1' }

  const { products } = normalizeBundle({
    products: [named, product, { ...product, brand: ' \u00A0', groupId: '\t' }],
  })

  assert.deepEqual(products, [named, product, { ...product, brand: '', groupId: '' }])
})
