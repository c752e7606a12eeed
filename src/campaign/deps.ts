import type { Tracing } from '../tracing/tracing.ts'
import type { SignOn } from '../access/sign-on.ts'
import type { AuditTrail } from '../access/audit-trail.ts'
import type { Answer, HandlerTable } from '../http/handler.ts'
import type { KeyStore } from '../access/key-store.ts'
import type { CatalogStore } from '../catalog/catalog-store.ts'
import type { OpenApiDocument } from '../contract/openapi.ts'
import type { Operation } from '../contract/operation.ts'
import type { Clock } from '../lib/clock.ts'
import type { ListAttributions } from '../reports/attributions.ts'
import type { ExplainOwnPurchase } from '../attribution/explain/for-advertiser.ts'
import type { ReadIntake } from '../reports/intake.ts'
import type { RunReport } from '../reports/report.ts'
import type { RunGroups } from '../reports/run-groups.ts'
import type { ReadSeries } from '../reports/series.ts'
import type { ReadSummary } from '../reports/summary.ts'
import type { Restatements } from '../days/restatement-list.ts'
import type { ReadTrafficQuality } from '../reports/traffic-quality.ts'

/** The part of pino that this port uses. Lines hold route patterns, never paths, keys or bodies. */
export interface CampaignLog {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
  fatal(fields: object, message: string): void
}

/** A public page such as those of the dashboard: the same answer for everyone, to GET and HEAD. */
export interface PublicPage {
  readonly path: string
  readonly answer: Answer
}

export interface CampaignDeps {
  readonly keys: Pick<KeyStore, 'find' | 'findRefused' | 'findPerson' | 'isValid'>
  readonly catalog: Pick<CatalogStore, 'current' | 'attach'>
  readonly runReport: RunReport
  readonly listAttributions: ListAttributions
  readonly explainOwnPurchase: ExplainOwnPurchase
  readonly readSeries: ReadSeries
  readonly runGroups: RunGroups
  readonly readSummary: ReadSummary
  /** The days that were sealed, or sealed again, after the instant. */
  readonly listRestatements: (sinceMs: number) => Promise<Restatements>
  readonly readIntake: ReadIntake
  readonly readTrafficQuality: ReadTrafficQuality
  readonly audit: Pick<AuditTrail, 'record'>
  /** `createAdminHandlers(…)`: every operation of the port needs exactly one handler. */
  readonly adminHandlers: HandlerTable
  readonly openApi: () => OpenApiDocument
  /** Whether the node takes traffic, for `/readyz`. */
  readonly isReady: () => boolean
  /** Prometheus text over all processes of the node. */
  readonly metrics: {
    readonly read: () => Promise<string>
    /** `operation` is 'none' where no operation of the contract was asked for. */
    readonly noteAnswer: (answer: {
      readonly operation: string
      readonly status: number
      readonly seconds: number
    }) => void
    /** A connection was refused or closed for want of room. */
    readonly noteDroppedConnection: () => void
  }
  readonly clock: Clock
  readonly tracing?: Tracing | null
  readonly log: CampaignLog
  readonly pages?: readonly PublicPage[]
  readonly tls?: { readonly cert: string | Buffer; readonly key: string | Buffer } | undefined
  /** Per key and minute; the configured admin key is exempt. Default 600. */
  readonly requestsPerMinuteMax?: number
  /** At once, per key; attributions and overviews of the intake among them. Default 4. */
  readonly reportsPerKeyMax?: number
  /** At once, over all keys: what the warehouse has sessions for. Default 4. */
  readonly reportPlacesMax?: number
  /** How long a report waits for a place. Default 20 s. */
  readonly reportWaitMsMax?: number
  /** Whether deliveries need a key, of publishers that do not say so themselves. Default false. */
  readonly requiresDeliveryKey?: boolean
  /** Whether `X-Forwarded-For` tells where a caller comes from. Default false. */
  readonly trustProxy?: boolean
  /** Who says whom a proxy has signed in. Null, the default: nobody. */
  readonly signOn?: SignOn | null
  /** How many connections the limit of open files leaves room for. */
  readonly connectionsMax?: number
  /** Whether the disk of a warehouse in process has no room. Default: never. */
  readonly isDiskFull?: () => boolean
  /** How long `close` waits for requests under way. Default 5 s. */
  readonly drainMsMax?: number
  /** Another table than the contract's: a node may answer fewer operations, and tests have their own. */
  readonly operations?: readonly Operation[]
}
