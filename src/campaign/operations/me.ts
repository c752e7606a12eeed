import { answerJson, type Handler } from '../../http/handler.ts'
import type { PartyIds } from '../../access/key.ts'
import type { Me } from '../../contract/me.ts'
import { assert } from '../../lib/assert.ts'
import type { CampaignDeps } from '../deps.ts'

interface Named {
  readonly name: string
}

/** What the caller's key may do. Names are of those that the key is for, and of nobody else. */
export function createReadMe({ catalog }: Pick<CampaignDeps, 'catalog'>): Handler {
  return async ({ key }) => {
    await Promise.resolve()
    assert(key !== null, 'the operation is for a key')
    const { advertisers, publishers } = catalog.current()
    const me: Me = {
      name: key.name,
      scopes: key.scopes,
      advertisers: nameAll(key.advertisers, advertisers),
      publishers: nameAll(key.publishers, publishers),
      expiresAt: key.expiresAtMs === null ? null : new Date(key.expiresAtMs).toISOString(),
    }
    return answerJson(200, me)
  }
}

function nameAll(ids: PartyIds, entries: ReadonlyMap<number, Named>): Me['advertisers'] {
  if (ids === 'all') return ids
  return ids.map((id) => ({ id, name: entries.get(id)?.name ?? null }))
}
