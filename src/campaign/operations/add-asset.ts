import { answerJson, refuse, type Answer, type HandlerTable } from '../../http/handler.ts'
import { takesAssets } from '../../catalog/check-attached.ts'
import { isActive, type CatalogSnapshot } from '../../catalog/snapshot.ts'
import type {
  AdGroupEntry,
  AssetEntry,
  CampaignEntry,
  CreativeSizeEntry,
} from '../../contract/catalog-bundle.ts'
import { campaignOperations } from '../../contract/campaign-operations.ts'
import type { CreativeRequest, DisplayAdGroupAssetResponse } from '../../contract/creative.ts'
import type { CampaignDeps } from '../deps.ts'
import { handleAt } from '../handle.ts'

interface PlacedAdGroup {
  readonly campaign: CampaignEntry
  readonly adGroup: AdGroupEntry
}

type Chosen =
  | { readonly ok: true; readonly size: CreativeSizeEntry }
  | { readonly ok: false; readonly messages: readonly string[] }

/** Makes an asset the advertised one of an ad group and a creative size. */
export function createAddAsset({
  catalog,
  audit,
}: Pick<CampaignDeps, 'catalog' | 'audit'>): HandlerTable {
  const adGroup = {
    find: (path: AdGroupPath) => findAdGroup(catalog.current(), path),
    notFound: 'There is no such ad group in this campaign of this advertiser.',
  }
  return handleAt(
    campaignOperations.addDisplayAdGroupAsset,
    adGroup,
    async ({ key, body }, place) => {
      const asset = findAsset(catalog.current(), place, body.assetId)
      // The same for an asset of another advertiser, so that nobody learns which assets others have.
      if (asset === null) {
        return refuse('RESOURCE_UNKNOWN', ['/assetId is no known asset of the advertiser'])
      }
      const chosen = choose(catalog.current(), { ...place, asset }, body)
      if (!chosen.ok) return refuse('REQUEST_INVALID', chosen.messages)

      const { size } = chosen
      const adGroupId = place.adGroup.id
      const assignment = { adGroupId, creativeSizeId: size.id, assetId: asset.id }
      const before = await catalog.attach(assignment)
      await audit.record({
        key,
        action: 'asset.attach',
        subject: `ad group ${adGroupId}, creative size ${size.id}`,
        details: {
          advertiserId: place.campaign.advertiserId,
          before: { assetId: before },
          after: { assetId: asset.id },
        },
      })
      return created(asset, size)
    }
  )
}

interface AdGroupPath {
  readonly advertiserId: number
  readonly campaignId: number
  readonly adGroupId: number
}

/** Each id of the path must belong to the one before it; otherwise it is treated like an unknown one. */
function findAdGroup(snapshot: CatalogSnapshot, path: AdGroupPath): PlacedAdGroup | null {
  const campaign = snapshot.campaigns.get(path.campaignId)
  const adGroup = snapshot.adGroups.get(path.adGroupId)
  if (campaign === undefined || adGroup === undefined) return null
  const isHere = campaign.advertiserId === path.advertiserId && adGroup.campaignId === campaign.id
  return isHere ? { campaign, adGroup } : null
}

function findAsset(
  snapshot: CatalogSnapshot,
  { campaign }: PlacedAdGroup,
  assetId: string
): AssetEntry | null {
  const asset = snapshot.assets.get(assetId.toLowerCase())
  return asset?.advertiserId === campaign.advertiserId ? asset : null
}

function choose(
  snapshot: CatalogSnapshot,
  { asset, ...place }: PlacedAdGroup & { readonly asset: AssetEntry },
  request: CreativeRequest
): Chosen {
  const size = snapshot.creativeSizes.get(request.creativeSizeId)
  const messages = placeFaults(snapshot, place)
  if (!isActive(asset)) messages.push('/assetId is not active')
  if (size === undefined) messages.push('/creativeSizeId is no known creative size')
  else if (!isActive(size)) messages.push('/creativeSizeId is not active')
  if (messages.length > 0 || size === undefined) {
    return { ok: false, messages }
  }
  if (asset.width !== size.width || asset.height !== size.height) {
    const have = `${asset.width}x${asset.height}`
    const want = `${size.width}x${size.height}`
    return { ok: false, messages: [`/assetId is ${have}, but the creative size is ${want}`] }
  }
  return { ok: true, size }
}

function placeFaults(snapshot: CatalogSnapshot, { campaign, adGroup }: PlacedAdGroup): string[] {
  const messages: string[] = []
  const advertiser = snapshot.advertisers.get(campaign.advertiserId)
  if (!takesAssets(adGroup.type)) {
    messages.push('The ad group must be of type DISPLAY or SPONSORED_BRAND.')
  }
  if (!isActive(adGroup)) messages.push('The ad group is not active.')
  if (!isActive(campaign)) messages.push('The campaign is not active.')
  if (advertiser === undefined || !isActive(advertiser)) {
    messages.push('The advertiser is not active.')
  }
  return messages
}

function created(asset: AssetEntry, size: CreativeSizeEntry): Answer {
  const response: DisplayAdGroupAssetResponse = {
    creativeSizeId: size.id,
    width: size.width,
    height: size.height,
    fileName: asset.fileName,
    assetId: asset.id,
    assetUrl: asset.url,
    advertised: true,
    ...(asset.altText !== undefined && { altText: asset.altText }),
    ...(asset.backgroundColor !== undefined && { backgroundColor: asset.backgroundColor }),
    ...(asset.callToAction !== undefined && { callToAction: asset.callToAction }),
    ...(asset.adCopy !== undefined && { adCopy: asset.adCopy }),
    type: asset.type,
    ...(asset.link !== undefined && { link: asset.link }),
  }
  return answerJson(201, response)
}
