import { isForAdvertiser } from '../access/authenticate.ts'
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
      if (!mayHandOut(key, parsed.value)) {
        return refuse(403, ['A key hands out no advertisers beyond its own.'])
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

/** Else an admin of one advertiser would make itself a key for all. */
function mayHandOut(key: AccessKey, { advertisers }: KeyRequest): boolean {
  if (advertisers === 'all') return key.advertisers === 'all'
  return advertisers.every((advertiserId) => isForAdvertiser(key, advertiserId))
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
