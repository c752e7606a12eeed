import type { AuditTrail } from '../../access/audit-trail.ts'
import { answerJson, refuse, type HandlerTable } from '../../http/handler.ts'
import type { AccessKey } from '../../access/key.ts'
import type { KeyList, KeyRequest, Scope } from '../../contract/admin.ts'
import { adminOperations as operations } from '../../contract/admin-operations.ts'
import { invitationHours } from '../../contract/invitations.ts'
import { parseInstant, printInstant } from '../../domain/instant.ts'
import { assert } from '../../lib/assert.ts'
import { handle, handleAt } from '../handle.ts'
import type { AdminDeps } from './deps.ts'

export function createKeyHandlers(
  { keys, clock }: Pick<AdminDeps, 'keys' | 'clock'>,
  audit: AuditTrail
): HandlerTable {
  const keyInPath = {
    find: ({ id }: { readonly id: string }) => keys.findById(id),
    notFound: 'There is no such key.',
  }
  return {
    ...handle(operations.createKey, async ({ key, body }) => {
      const faults = [...reachFaults(body), ...endFaults(body, clock())]
      if (faults.length > 0) return refuse('REQUEST_INVALID', faults)

      const created = await keys.create(body)
      await audit.record({
        key,
        action: 'key.create',
        subject: created.id,
        details: detailsOf(body),
      })
      return answerJson(201, created)
    }),
    ...handle(operations.inviteKeyHolder, async ({ key, body }) => {
      const { validForHours = invitationHours.default, ...wish } = body
      const faults = [...reachFaults(wish), ...endFaults(wish, clock())]
      if (faults.length > 0) return refuse('REQUEST_INVALID', faults)

      const { id, key: code, expiresAtMs } = await keys.invite(wish, validForHours)
      const invitedUntil = printInstant(expiresAtMs)
      await audit.record({
        key,
        action: 'key.invite',
        subject: id,
        details: { ...detailsOf(wish), invitedUntil },
      })
      const address = `#/invitation/${code}`
      return answerJson(201, { id, code, address, expiresAt: invitedUntil })
    }),
    ...createPeopleHandlers({ keys, clock }, audit),
    ...handle(operations.acceptInvitation, async ({ key: invited }) => {
      // Recorded before the change, since the call could not be repeated once the invitation is used up.
      const made = await keys.accept(invited, () =>
        audit.record({
          key: invited,
          action: 'key.accept',
          subject: invited.id,
          details: { name: invited.name },
        })
      )
      // Somebody else was faster: told as to whoever comes later.
      if (made === null) return refuse('KEY_INVALID', ['The key is not valid.'])
      return answerJson(201, made)
    }),
    ...handle(operations.listKeys, () =>
      Promise.resolve(answerJson(200, { keys: keys.list().map(toListed) }))
    ),
    ...handleAt(operations.revokeKey, keyInPath, async ({ key, path: { id }, query }, found) => {
      const { compromisedSince } = query
      const sinceMs = compromisedSince === undefined ? null : parseInstant(compromisedSince)
      if (sinceMs !== null && sinceMs > clock()) return refuse('REQUEST_INVALID', [isAhead])
      const revoked = await keys.revoke(id, sinceMs)
      assert(revoked !== null, 'a key that is there stays in the list')
      const { name, scopes } = revoked
      const details = { name, scopes, before: endOf(found), after: endOf(revoked) }
      await audit.record({ key, action: 'key.revoke', subject: id, details })
      return { status: 204, body: null }
    }),
  }
}

/** Access by the sign-on of a proxy. */
function createPeopleHandlers(
  { keys, clock }: Pick<AdminDeps, 'keys' | 'clock'>,
  audit: AuditTrail
): HandlerTable {
  return handle(operations.admitPerson, async ({ key, body }) => {
    const faults = [...reachFaults(body), ...endFaults(body, clock())]
    if (faults.length > 0) return refuse('REQUEST_INVALID', faults)

    const admitted = await keys.admit(body)
    if (admitted === null) {
      return refuse('REQUEST_INVALID', ['/person has access already; revoke it first'])
    }
    await audit.record({
      key,
      action: 'key.admit',
      subject: admitted.id,
      details: detailsOf({ ...body, name: body.person.toLowerCase() }),
    })
    return answerJson(201, admitted)
  })
}

function detailsOf(request: KeyRequest) {
  const { name, scopes, advertisers = [], publishers = [], expiresAt = null } = request
  return { name, scopes, advertisers, publishers, expiresAt }
}

/** For the audit: since when the key does not count. */
function endOf({ revokedAtMs, compromisedSinceMs }: AccessKey) {
  return {
    revokedAt: revokedAtMs === null ? null : printInstant(revokedAtMs),
    compromisedSince: compromisedSinceMs === null ? null : printInstant(compromisedSinceMs),
  }
}

type Rights = Omit<KeyRequest, 'name'>

const globalScopes: readonly Scope[] = ['admin', 'events:write']
const advertiserScopes: readonly Scope[] = ['report:read', 'asset:write', 'site:read', 'link:mint']
const publisherScopes: readonly Scope[] = ['intake:read', 'delivery:write']

/**
 * The catalog, the keys and backfilled purchases belong to no advertiser: a key that changes them
 * but was meant for one advertiser would reach much further than its maker thinks. A scope that has
 * nobody to be used for is a slip too.
 */
function reachFaults({ advertisers, publishers, scopes }: Rights): readonly string[] {
  const among = (wanted: readonly Scope[]) => wanted.filter((scope) => scopes.includes(scope))
  const faults: string[] = []
  if (advertisers !== 'all' && among(globalScopes).length > 0) {
    faults.push('/advertisers must be "all" for the scopes admin and events:write')
  } else if (advertisers === undefined && among(advertiserScopes).length > 0) {
    faults.push(`/advertisers is required for the scopes ${among(advertiserScopes).join(', ')}`)
  }
  if (publishers === undefined && among(publisherScopes).length > 0) {
    faults.push(`/publishers is required for the scopes ${among(publisherScopes).join(', ')}`)
  }
  for (const [field, ids] of Object.entries({ advertisers, publishers })) {
    const isRepeated = Array.isArray(ids) && new Set(ids).size < ids.length
    if (isRepeated) faults.push(`/${field} must have each id once`)
  }
  return faults
}

/** It would be handed out and never work. */
function endFaults({ expiresAt }: Rights, nowMs: number): readonly string[] {
  const endMs = expiresAt === undefined ? null : parseInstant(expiresAt)
  return endMs !== null && endMs <= nowMs ? ['/expiresAt must lie in the future'] : []
}

/** Such a slip would protect nothing. */
const isAhead = 'compromisedSince must not lie in the future'

function toListed(key: AccessKey): KeyList['keys'][number] {
  const { id, name, advertisers, publishers, invitation } = key
  const { createdAtMs, expiresAtMs, revokedAtMs, compromisedSinceMs } = key
  return {
    id,
    name,
    advertisers,
    publishers,
    scopes: invitation?.scopes ?? key.scopes,
    ...(key.isSignOn && { signOn: true }),
    ...(invitation !== null && { invited: true }),
    createdAt: printInstant(createdAtMs),
    ...(expiresAtMs !== null && { expiresAt: printInstant(expiresAtMs) }),
    ...(revokedAtMs !== null && { revokedAt: printInstant(revokedAtMs) }),
    ...(compromisedSinceMs !== null && { compromisedSince: printInstant(compromisedSinceMs) }),
  }
}
