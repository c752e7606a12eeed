// Refused calls as lines of the log. A refusal is often the first trace of a leaked key or of somebody who
// tries, so it is logged at `warn`, and so that a flood of refusals does not become a flood of lines, each
// reason and network has one line at once and then one a minute with the count of what was held back.
import { loggedNetworkOf } from '../http/source-address.ts'
import type { Clock } from '../lib/clock.ts'
import type { CampaignLog } from './deps.ts'

export const refusalReasons = {
  'no-key': 401,
  'malformed-key': 401,
  'unknown-key': 401,
  'expired-key': 401,
  'revoked-key': 401,
  'foreign-sign-on': 401,
  'malformed-sign-on': 401,
  'changed-person': 401,
  'cross-site': 403,
  'unknown-person': 403,
  forbidden: 403,
  'too-many-refused-keys': 429,
  limit: 429,
} as const

export type RefusalReason = keyof typeof refusalReasons

export interface RefusedCall {
  readonly reason: RefusalReason
  /** Null where no key of ours was presented. */
  readonly keyId: string | null
  /** Null once the connection has gone. */
  readonly address: string | null
  readonly operation: string
}

export const refusalLimits = {
  holdMs: 60_000,
  lookMs: 1_000,
  /** Reasons and networks that are told apart at once; what comes beyond shares a line per reason. */
  groupsMax: 500,
  /** Names in the line of what was held back; the count counts all. */
  namesMax: 10,
} as const

/** For networks beyond `groupsMax`. */
const otherNetworks = 'other networks'

interface Group {
  readonly reason: RefusalReason
  readonly network: string
  writtenAtMs: number
  heldCount: number
  readonly keyIds: Set<string>
  readonly operations: Set<string>
}

/** A call alone has a key id and an operation; what was held back has lists of them. */
type RefusalLine = Pick<Group, 'reason' | 'network'> & { readonly count: number } & (
    | Pick<RefusedCall, 'keyId' | 'operation'>
    | { readonly keyIds: readonly string[]; readonly operations: readonly string[] }
  )

export class RefusedCalls {
  readonly #log: Pick<CampaignLog, 'warn'>
  readonly #clock: Clock
  readonly #groups = new Map<string, Group>()
  readonly #timer: NodeJS.Timeout

  constructor({ log, clock }: { readonly log: Pick<CampaignLog, 'warn'>; readonly clock: Clock }) {
    this.#log = log
    this.#clock = clock
    this.#timer = setInterval(() => this.look(), refusalLimits.lookMs).unref()
  }

  note(call: RefusedCall): void {
    const { reason, keyId, operation } = call
    const network = loggedNetworkOf(call.address)
    const known = this.#groupOf(reason, network)
    if (known === null) {
      this.#begin(reason, network)
      this.#write({ reason, network, keyId, operation, count: 1 })
      return
    }
    known.heldCount += 1
    addName(known.operations, operation)
    if (keyId !== null) addName(known.keyIds, keyId)
  }

  /** Writes what was held back for a minute, and forgets networks that were silent as long. */
  look(): void {
    const nowMs = this.#clock()
    for (const [name, group] of this.#groups) {
      // A clock that was set back must not hold lines back.
      if (Math.abs(nowMs - group.writtenAtMs) < refusalLimits.holdMs) continue
      if (group.heldCount === 0) this.#groups.delete(name)
      else this.#writeHeld(group, nowMs)
    }
  }

  /** Nothing that was held back is lost when the port closes. */
  close(): void {
    clearInterval(this.#timer)
    for (const group of this.#groups.values()) {
      if (group.heldCount > 0) this.#writeHeld(group, this.#clock())
    }
  }

  /** The group of the network, that of the others when there is no room, or null for a new one. */
  #groupOf(reason: RefusalReason, network: string): Group | null {
    const own = this.#groups.get(nameOf(reason, network))
    if (own !== undefined) return own
    if (this.#groups.size < refusalLimits.groupsMax) return null
    return this.#groups.get(nameOf(reason, otherNetworks)) ?? this.#begin(reason, otherNetworks)
  }

  #begin(reason: RefusalReason, network: string): Group {
    const group: Group = {
      reason,
      network,
      writtenAtMs: this.#clock(),
      heldCount: 0,
      keyIds: new Set(),
      operations: new Set(),
    }
    this.#groups.set(nameOf(reason, network), group)
    return group
  }

  #writeHeld(group: Group, nowMs: number): void {
    const { reason, network, heldCount: count, keyIds, operations } = group
    this.#write({ reason, network, keyIds: [...keyIds], operations: [...operations], count })
    group.writtenAtMs = nowMs
    group.heldCount = 0
    keyIds.clear()
    operations.clear()
  }

  #write(line: RefusalLine): void {
    this.#log.warn({ ...line, status: refusalReasons[line.reason] }, 'a call was refused')
  }
}

function nameOf(reason: RefusalReason, network: string): string {
  return `${reason} ${network}`
}

function addName(names: Set<string>, name: string): void {
  if (names.size < refusalLimits.namesMax) names.add(name)
}
