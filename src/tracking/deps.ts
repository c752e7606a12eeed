import type { Clock } from '../lib/clock.ts'
import type { IdentityHasher } from '../domain/identity.ts'
import type { Spool } from '../spool/spool.ts'
import type { Opener } from '../tracking-data/tracking-data.ts'

/** The part of pino that this port uses. Lines hold route patterns, never paths, tokens or ids. */
interface TrackingLog {
  isLevelEnabled(level: 'debug'): boolean
  debug(fields: object, message: string): void
  error(fields: object, message: string): void
}

export interface TrackingDeps {
  readonly spool: Spool
  readonly opener: Opener
  readonly hashIdentity: IdentityHasher
  readonly clock: Clock
  /** Whether `/readyz` says that the process takes traffic. Events depend on the spool alone. */
  readonly isReady: () => boolean
  readonly log: TrackingLog
  readonly trustProxy: boolean
  /** The version of the list of data centres that has the address, or null. Absent where there is no list. */
  readonly dataCentreListOf?: (address: string | null) => string | null
  readonly tls?: { readonly cert: string | Buffer; readonly key: string | Buffer } | undefined
  /** The connections that the limit of open files leaves room for. */
  readonly connectionsMax?: number
  /** How long `close` waits for requests under way. */
  readonly drainMsMax?: number
}
