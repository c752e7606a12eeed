import type { Admin } from './admin.ts'
import type { ServedAd } from './expectation.ts'
import { objectsIn, textIn, type JsonObject } from './json.ts'
import type { Journey, PlannedAd } from './journey.ts'

export interface MintedAd {
  readonly served: ServedAd
  readonly landingUrl: string | null
  readonly urls: Readonly<Record<'impression' | 'click' | 'load', string>>
}

const batchMax = 1_000

/** Mints a link for every ad of the journeys, in batches as an ad server would. */
export async function mintAds(
  admin: Admin,
  journeys: readonly Journey[],
  onProgress: (done: number) => void
): Promise<ReadonlyMap<PlannedAd, MintedAd>> {
  const ads = journeys.flatMap((journey) => journey.ads)
  const minted = new Map<PlannedAd, MintedAd>()
  for (let start = 0; start < ads.length; start += batchMax) {
    const batch = ads.slice(start, start + batchMax)
    for (const [ad, link] of await mintBatch(admin, batch)) minted.set(ad, link)
    onProgress(minted.size)
  }
  return minted
}

async function mintBatch(admin: Admin, batch: readonly PlannedAd[]) {
  const nowMs = Date.now()
  const links = batch.map(({ request, servedAgoMs }) =>
    servedAgoMs === null
      ? request
      : { ...request, servedAt: new Date(nowMs - servedAgoMs).toISOString() }
  )
  const answer = await admin.call({
    method: 'POST',
    path: '/admin/v1/tracking-links',
    json: { links },
    status: 200,
  })
  const minted = objectsIn(answer, 'links')
  if (minted.length !== batch.length) {
    throw new Error(`${batch.length} links were asked for, ${minted.length} came`)
  }
  return batch.map((ad, index) => [ad, mintedAd(ad, minted[index], nowMs)] as const)
}

function mintedAd(ad: PlannedAd, link: JsonObject | undefined, nowMs: number): MintedAd {
  if (link === undefined) throw new Error('a link is missing from the answer')
  const { landingUrl, ...request } = ad.request
  return {
    served: {
      ...request,
      servedAdId: textIn(link, 'servedAdId').toLowerCase(),
      servedAtMs: nowMs - (ad.servedAgoMs ?? 0),
    },
    landingUrl: landingUrl ?? null,
    urls: {
      impression: textIn(link, 'impressionUrl'),
      click: textIn(link, 'clickUrl'),
      load: textIn(link, 'loadUrl'),
    },
  }
}
