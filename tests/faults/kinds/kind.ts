import type { Random } from '../../../scripts/demo/random.ts'
import type { Installation } from '../installation.ts'
import type { Ledger } from '../ledger.ts'
import type { Load } from '../load.ts'

export interface FaultContext {
  readonly installation: Installation
  readonly load: Load
  readonly ledger: Ledger
  /** Of this fault alone, so that what others draw meanwhile changes nothing. */
  readonly random: Random
  /** How long a port stays taken; drawn when null. */
  readonly portSeconds: number | null
  /** How long the service may take to mend something. */
  readonly patienceMs: number
}

export type Need = 'warehouse server' | 'small disk'

/** What a fault works on. Two that share something undo each other's work, and never strike at once. */
const targets = ['processes', 'warehouse', 'disk', 'reports', 'clock', 'connections'] as const
type Target = (typeof targets)[number]

/** Of a fault that is prepared by requests, which have to be answered: what it does lasts through others. */
export const strikesAlone: readonly Target[] = targets

export interface Struck {
  /** What tells this one from others of its kind. */
  readonly told: string
  /**
   * For what outlasts the fault. Awaited between two faults, once everything else that was acknowledged
   * by the end of the fault is in the figures and as many faults more have struck as are named here.
   */
  readonly lasting?: {
    readonly faultCount: number
    readonly end: () => Promise<void>
    /** Lets go of what the run itself holds for it, when the run breaks off. */
    readonly abandon?: () => void
  }
}

export interface FaultKind {
  readonly name: string
  /** How often it is drawn beside the others. */
  readonly weight: number
  readonly needs: readonly Need[]
  readonly targets: readonly Target[]
  /** Resolves when the fault is over: what was stopped goes on, what was taken away is back. */
  readonly strike: (context: FaultContext) => Promise<Struck>
}
