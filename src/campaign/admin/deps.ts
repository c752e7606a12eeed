import type { AuditExportPage, AuditExportQuestion } from '../../access/audit-export.ts'
import type { AuditTrail } from '../../access/audit-trail.ts'
import type { Backups } from '../../backup/backups.ts'
import type { CatalogStore } from '../../catalog/catalog-store.ts'
import type { RateStore } from '../../catalog/ecb-rates.ts'
import type { KeyStore } from '../../access/key-store.ts'
import type { StatusResponse } from '../../contract/admin.ts'
import type { StatusHistory } from '../../contract/watch.ts'
import type { Erasure } from '../../contract/erasures.ts'
import type { ReplayKeys, ReplayResult } from '../../contract/set-aside.ts'
import type { IdentityHasher } from '../../domain/identity.ts'
import type { ReadConflicts } from '../../reports/conflicts.ts'
import type { ReadNamedIds } from '../../reports/named-ids.ts'
import type { ReadUnconverted } from '../../reports/unconverted.ts'
import type { ExplainPurchase } from '../../attribution/explain/explain.ts'
import type { Judgements } from '../../attribution/judging/judgements.ts'
import type { NamedDelivery, VoidResult } from '../../attribution/void-delivery.ts'
import type { ReadServedAd } from '../../reports/served-ad.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Spool } from '../../spool/spool.ts'
import type { Minter, Opener } from '../../tracking-data/tracking-data.ts'

interface SetAsidePlace {
  readonly atMicros: number
  readonly key: string
}

/** Records that could not be shipped. */
export interface SetAside {
  /** Longest waiting first, behind the place where there is one. */
  list(question: { readonly after: SetAsidePlace | null; readonly limit: number }): Promise<
    readonly {
      readonly place: SetAsidePlace
      readonly type: string
      readonly receivedAtMs: number | null
      readonly contradiction: { readonly publisherId: number; readonly rule: string } | null
      readonly reason: string
    }[]
  >
  replay(keys: ReplayKeys): Promise<ReplayResult>
}

/** People to be erased, known by the hashes of their ids only. */
interface ErasureRequest {
  readonly publisherId: number
  readonly identities: readonly string[]
}

export interface Erasures {
  request(request: ErasureRequest): Promise<Erasure>
  /** Those of the identities under which something is stored that earns or gives credit. */
  findStored(request: ErasureRequest): Promise<ReadonlySet<string>>
  /** Those that are not closed. */
  countOpen(): Promise<number>
  find(id: string): Promise<Erasure | null>
  /** Newest first. */
  list(limit: number): Promise<readonly Erasure[]>
}

export interface AdminDeps {
  readonly catalog: Pick<CatalogStore, 'current' | 'apply' | 'check' | 'products'>
  readonly keys: Pick<
    KeyStore,
    'create' | 'admit' | 'invite' | 'accept' | 'list' | 'revoke' | 'findById'
  >
  readonly audit: AuditTrail
  readonly exportAudit: (question: AuditExportQuestion) => Promise<AuditExportPage>
  readonly spool: Pick<Spool, 'append'>
  readonly clock: Clock
  readonly minter: Minter
  readonly openTrackingData: Opener['open']
  readonly hashIdentity: IdentityHasher
  /** The public address of the tracking port, without a slash at its end. */
  readonly trackingUrl: string
  readonly rates: RateStore
  /** Days of every market's zone, both included. */
  readonly rebuildDays: (days: {
    firstDay: string
    lastDay: string
  }) => Promise<
    | { readonly kind: 'requested'; readonly purchaseCount: number }
    | { readonly kind: 'final'; readonly finalBefore: string }
  >
  readonly readUnconverted: ReadUnconverted
  readonly readServedAd: ReadServedAd
  readonly readConflicts: ReadConflicts
  readonly readNamedIds: ReadNamedIds
  readonly setAside: SetAside
  readonly explainPurchase: ExplainPurchase
  /** The purchase is attributed again without the delivery, or with it. */
  readonly voidDelivery: (delivery: NamedDelivery) => Promise<VoidResult>
  readonly unvoidDelivery: (delivery: NamedDelivery) => Promise<VoidResult>
  /** Null: the warehouse is a server, whose backups are not ours. */
  readonly backups: Pick<Backups, 'start' | 'list'> | null
  readonly erasures: Erasures
  readonly judgements: Judgements
  readonly status: () => Promise<StatusResponse>
  /** The last day of this node. */
  readonly statusHistory: () => StatusHistory
}
