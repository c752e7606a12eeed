import assert from 'node:assert/strict'
import { test } from 'node:test'
import { normalizeBundle } from '../../src/catalog/normalize-bundle.ts'

test('texts of products lose the blanks around them, as those of a feed do, and nothing within', () => {
  const product = { marketId: 1, gtin: ' 4006381333931 ', title: '\u00A0Coffee  beans\t' }

  const { products } = normalizeBundle({
    products: [{ ...product, brand: ' Nescafé ', groupId: ' G 1' }, product],
  })

  assert.deepEqual(products, [
    { ...product, title: 'Coffee  beans', brand: 'Nescafé', groupId: 'G 1' },
    { ...product, title: 'Coffee  beans' },
  ])
})
