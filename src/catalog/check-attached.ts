// An asset is attached only where it fits. A bundle must not make it unfit afterwards.
import type { AdGroupEntry, AssetEntry, CatalogBundle } from '../contract/catalog-bundle.ts'
import type { CatalogSnapshot } from './snapshot.ts'

type Size = Pick<AssetEntry, 'width' | 'height'>
type Fault = (path: string, rule: string) => void

/** Ad groups of the other types show products. */
export function takesAssets(type: AdGroupEntry['type']): boolean {
  return type === 'DISPLAY' || type === 'SPONSORED_BRAND'
}

/** Ad groups with an asset keep taking assets; assets that are attached and the sizes they are in keep their sides. */
export function checkAttached(bundle: CatalogBundle, before: CatalogSnapshot, fault: Fault): void {
  const attached = [...before.assignments.values()]
  const groupIds = new Set(attached.map(({ adGroupId }) => adGroupId))
  const sizeIds = new Set(attached.map(({ creativeSizeId }) => creativeSizeId))
  const assetIds = new Set(attached.map(({ assetId }) => assetId))
  for (const [index, { id, type }] of (bundle.adGroups ?? []).entries()) {
    if (!groupIds.has(id) || takesAssets(type)) continue
    const known = before.adGroups.get(id)
    if (known !== undefined && takesAssets(known.type)) {
      fault(`/adGroups/${index}/type`, `must stay ${known.type}: an asset is attached`)
    }
  }
  for (const [index, size] of (bundle.creativeSizes ?? []).entries()) {
    if (!sizeIds.has(size.id)) continue
    checkSides(before.creativeSizes.get(size.id), size, (side, rule) =>
      fault(`/creativeSizes/${index}/${side}`, rule)
    )
  }
  for (const [index, asset] of (bundle.assets ?? []).entries()) {
    if (!assetIds.has(asset.id)) continue
    checkSides(before.assets.get(asset.id), asset, (side, rule) =>
      fault(`/assets/${index}/${side}`, rule)
    )
  }
}

function checkSides(known: Size | undefined, now: Size, fault: Fault): void {
  for (const side of ['width', 'height'] as const) {
    if (known !== undefined && known[side] !== now[side]) {
      fault(side, `must stay ${known[side]}: an asset is attached`)
    }
  }
}
