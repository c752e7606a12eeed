import type { Clock } from '../lib/clock.ts'
import type { IdentityHasher } from '../domain/identity.ts'
import type { Spool } from '../spool/spool.ts'
import type { Opener } from '../tracking-data/tracking-data.ts'

/** As much of pino as this port uses. Lines hold route patterns, never paths, tokens or ids. */
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
  /** Whether the process takes traffic, for `/readyz`; events are answered by the spool's word alone. */
  readonly isReady: () => boolean
  readonly log: TrackingLog
  readonly trustProxy: boolean
  readonly tls?: { readonly cert: string | Buffer; readonly key: string | Buffer } | undefined
  /** What the limit of open files leaves for connections. */
  readonly connectionsMax?: number
  /** How long `close` waits for requests under way. */
  readonly drainMsMax?: number
}
