import { answerJson, refuse, type HandlerTable } from '../access/handler.ts'
import type { AccessKey } from '../access/key.ts'
import { printInstant } from '../access/stored-key.ts'
import { parseKeyRequest, type KeyList, type KeyRequest } from '../contract/admin.ts'
import { parseJsonBody } from '../contract/json.ts'
import { assert } from '../lib/assert.ts'
import type { Audit } from './audit.ts'
import type { AdminDeps } from './deps.ts'

export function createKeyHandlers({ keys }: Pick<AdminDeps, 'keys'>, audit: Audit): HandlerTable {
  return {
    createKey: async ({ key, body }) => {
      const json = parseJsonBody(body)
      const parsed = json.ok ? parseKeyRequest(json.value) : json
      if (!parsed.ok) return refuse(422, parsed.messages)
      assert(key !== null, 'a key is made by a key')
      if (!isWithinReach(parsed.value)) {
        return refuse(422, ['/advertisers must be "all" for the scopes admin and events:write'])
      }

      const created = await keys.create(parsed.value)
      const { name, scopes, advertisers } = parsed.value
      await audit({
        key,
        action: 'key.create',
        subject: created.id,
        details: { name, scopes, advertisers },
      })
      return answerJson(201, created)
    },
    listKeys: () => Promise.resolve(answerJson(200, { keys: keys.list().map(toListed) })),
    revokeKey: async ({ key, pathParameters }) => {
      const id = pathParameters['id'] ?? ''
      if (!(await keys.revoke(id))) return refuse(404, ['There is no such key.'])
      await audit({ key, action: 'key.revoke', subject: id })
      return { status: 204, body: null }
    },
  }
}

/**
 * The catalog, the keys and backfilled purchases belong to no advertiser: a key that changes them
 * but was meant for one advertiser would reach much further than its maker thinks.
 */
function isWithinReach({ advertisers, scopes }: KeyRequest): boolean {
  return advertisers === 'all' || !(scopes.includes('admin') || scopes.includes('events:write'))
}

function toListed(key: AccessKey): KeyList['keys'][number] {
  const { id, name, advertisers, scopes, createdAtMs, expiresAtMs, revokedAtMs } = key
  return {
    id,
    name,
    advertisers,
    scopes,
    createdAt: printInstant(createdAtMs),
    ...(expiresAtMs !== null && { expiresAt: printInstant(expiresAtMs) }),
    ...(revokedAtMs !== null && { revokedAt: printInstant(revokedAtMs) }),
  }
}
