import type { Judgement } from '../../contract/judgements.ts'
import type { Warehouse } from '../../warehouse/warehouse.ts'
import {
  countOpenJudgements,
  findJudgement,
  listJudgements,
  requestJudgement,
} from './judgement-requests.ts'
import type { JudgementOrder, PinnedPolicy } from './judgement-requests.ts'
import { pinPolicy } from './pin-policy.ts'
import type { PolicyNow } from './pin-policy.ts'

/** What the admin API does with judgements. */
export interface Judgements {
  /** What decides about the publisher's deliveries now, read anew. */
  readonly pinPolicy: (publisherId: number) => Promise<PinnedPolicy>
  readonly request: (order: JudgementOrder) => Promise<Judgement>
  readonly countOpen: () => Promise<number>
  readonly find: (id: string) => Promise<Judgement | null>
  readonly list: (limit: number) => Promise<readonly Judgement[]>
}

export interface JudgementsDeps {
  /** Requests are written here, and read in the other lane. */
  readonly warehouse: Pick<Warehouse, 'rows' | 'command' | 'barrier'>
  readonly reports: Pick<Warehouse, 'rows' | 'barrier'>
  readonly runAsStep: (work: () => Promise<Judgement>) => Promise<Judgement>
  readonly readPolicy: () => Promise<PolicyNow>
}

export function createJudgements(deps: JudgementsDeps): Judgements {
  const { warehouse, reports, runAsStep, readPolicy } = deps
  return {
    pinPolicy: async (publisherId) => pinPolicy(await readPolicy(), publisherId),
    request: (order) => runAsStep(() => requestJudgement(warehouse, order)),
    countOpen: () => countOpenJudgements(reports),
    find: (id) => findJudgement(reports, id),
    list: (limit) => listJudgements(reports, limit),
  }
}
