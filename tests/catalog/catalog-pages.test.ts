import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { CatalogPages } from '../../src/catalog/catalog-pages.ts'
import { assignmentId, emptySnapshot, extendSnapshot } from '../../src/catalog/snapshot.ts'
import type { PageKind } from '../../src/contract/catalog-pages.ts'

const id = fc.integer({ min: 1, max: 2_147_483_647 })
const ids = fc.uniqueArray(id, { maxLength: 30 })
const uuids = fc.uniqueArray(fc.uuid(), { maxLength: 30 })
const pairs = fc.uniqueArray(fc.tuple(id, fc.integer({ min: 1, max: 3 })), {
  maxLength: 30,
  selector: ([one, other]) => `${one}/${other}`,
})

/** All pages, and every cursor between them. */
function readAll(
  pages: CatalogPages,
  snapshot: typeof emptySnapshot,
  kind: PageKind,
  limit: number
) {
  const entries: object[] = []
  for (let after: string | null = null; ;) {
    const page = pages.read(snapshot, { kind, after, limit })
    assert.ok(page !== null && page.entries.length <= limit)
    entries.push(...page.entries)
    if (page.next === null) return entries
    assert.equal(page.entries.length, limit)
    after = page.next
  }
}

test('the pages of a kind are all its entries, by ascending id, each once', () => {
  fc.assert(
    fc.property(
      ids,
      uuids,
      pairs,
      fc.integer({ min: 1, max: 7 }),
      (numbers, names, places, limit) => {
        const snapshot = extendSnapshot(
          emptySnapshot,
          {
            campaigns: numbers.map((number) => ({ id: number, advertiserId: 1, name: 'n' })),
            assets: names.map((name) => ({ ...asset, id: name })),
          },
          places.map(([adGroupId, creativeSizeId]) => ({ adGroupId, creativeSizeId, assetId: 'a' }))
        )
        const pages = new CatalogPages()

        const campaigns = readAll(pages, snapshot, 'campaigns', limit)
        const assets = readAll(pages, snapshot, 'assets', limit)
        const assignments = readAll(pages, snapshot, 'assignments', limit)

        const sorted = numbers.toSorted((one, other) => one - other)
        assert.deepEqual(
          campaigns,
          sorted.map((number) => snapshot.campaigns.get(number))
        )
        assert.deepEqual(
          assets,
          names.toSorted().map((name) => snapshot.assets.get(name))
        )
        const byPlace = places.toSorted(([a, b], [c, d]) => a - c || b - d)
        assert.deepEqual(
          assignments,
          byPlace.map(([adGroupId, creativeSizeId]) =>
            snapshot.assignments.get(assignmentId({ adGroupId, creativeSizeId }))
          )
        )
      }
    )
  )
})

const asset = {
  advertiserId: 1,
  fileName: 'a.png',
  url: 'https://cdn.example/a.png',
  width: 1,
  height: 1,
  type: 'IMAGE',
} as const

function withSizes(numbers: readonly number[]) {
  return extendSnapshot(emptySnapshot, {
    creativeSizes: numbers.map((number) => ({ id: number, name: 'n', width: 1, height: 1 })),
  })
}

test('a page begins behind an id that is gone, and shows what came meanwhile', () => {
  const pages = new CatalogPages()
  const question = { kind: 'creative-sizes', after: '20', limit: 10 } as const

  assert.deepEqual(pages.read(withSizes([10, 30]), question)?.entries, [
    { id: 30, name: 'n', width: 1, height: 1 },
  ])
  assert.equal(pages.read(withSizes([10, 25, 30]), question)?.entries.length, 2)
})

test('what is no id of the kind begins no page', () => {
  const pages = new CatalogPages()
  for (const [kind, after] of [
    ['markets', '0'],
    ['markets', '01'],
    ['markets', 'x'],
    ['markets', '1/2'],
    ['markets', '2147483648'],
    ['assets', '1'],
    ['assets', '3f2504e0-4f89-41d3-9a0c-0305e82c330'],
    ['assignments', '1'],
    ['assignments', '1/2/3'],
    ['assignments', '1/'],
  ] as const) {
    assert.equal(pages.read(emptySnapshot, { kind, after, limit: 1 }), null, after)
  }
})
