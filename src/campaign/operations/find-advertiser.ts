import { refuse, type Call } from '../../http/handler.ts'
import type { CatalogSnapshot } from '../../catalog/snapshot.ts'
import type { AdvertiserEntry } from '../../contract/catalog-bundle.ts'
import { parsePositiveInt32 } from '../../domain/ids.ts'

export const noAdvertiser = refuse(404, ['There is no such advertiser.'])

/** The advertiser that the path names, also one that is no longer active. */
export function findAdvertiser(
  snapshot: CatalogSnapshot,
  { pathParameters }: Pick<Call, 'pathParameters'>
): AdvertiserEntry | undefined {
  const id = parsePositiveInt32(pathParameters['advertiserId'] ?? '')
  return id === null ? undefined : snapshot.advertisers.get(id)
}
