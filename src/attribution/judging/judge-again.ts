// Judges again what a publisher delivered: a page of deliveries at a time, day by day and then the returns, until
// a scan that began late enough finds nothing more. Everything is a function of what is stored, so a scan may
// be interrupted and repeated, and two engines that do the same write the same rows.

import type { Logger } from 'pino'
import type { ReportMarket } from '../../catalog/catalog-names.ts'
import { readFinalDays, tooLateBefore } from '../../days/final-days.ts'
import { formatInstant, instantMs, warehouseNow } from '../../warehouse/instant.ts'
import type { Warehouse } from '../../warehouse/warehouse.ts'
import { applyJudgements, judgementLimits } from '../apply-judgements.ts'
import type { JudgedDelivery } from '../apply-judgements.ts'
import { judgePage } from './judge-page.ts'
import type { PageRow } from './judge-page.ts'
import { partsOf, readOpenJudgements, readParts, returnsPart } from './judgement-requests.ts'
import type { PartDone, StoredJudgement } from './judgement-requests.ts'
import {
  beginPartSql,
  boughtSql,
  doneSql,
  lostCreditSql,
  partDoneSql,
  returnedPageSql,
} from './judging-sql.ts'
import { addAmounts, addTallies, noTally } from './tally.ts'
import type { Amount, Tally } from './tally.ts'

export const judgingLimits = {
  /** What an engine reads at once: 6 MB. */
  pageRowsMax: 20_000,
  /**
   * Engines know a changed catalog or a revoked key within seconds, and a batch that was judged before is
   * visible moments later; what becomes visible later than this is of an engine that was suspended.
   */
  settleMs: 120_000,
} as const

const pageReads = ['delivery', 'purchase_return', 'delivery_judgement', 'attribution'] as const

export interface JudgeAgainDeps {
  readonly warehouse: Warehouse
  readonly markets: () => readonly ReportMarket[]
  readonly log: Pick<Logger, 'info'>
  /** Records that a judgement is done. May be called twice if an engine is killed or two work at once. */
  readonly onDone: (judgement: StoredJudgement, tally: Tally) => Promise<void>
  /** This option and the next one are set by tests only. */
  readonly settleJudgingMs?: number
  readonly pageRowsMax?: number
}

/** Where a part is: what it found so far. Forgotten with the process, and then the part begins anew. */
interface Progress {
  readonly judgementId: string
  readonly scan: number
  readonly part: string
  readonly beganAt: string
  /** Whether someone began this part and did not finish it. */
  readonly isRepeated: boolean
  readonly hasWritten: boolean
  readonly after: { readonly purchaseKey: string; readonly deliveryId: string } | null
  readonly tally: Tally
}

export class Judging {
  readonly #deps: JudgeAgainDeps
  #progress: Progress | null = null

  constructor(deps: JudgeAgainDeps) {
    this.#deps = deps
  }

  /** Judges one page, or ends a part, a scan or a judgement. True if there is more to do at once. */
  async step(): Promise<boolean> {
    for (const judgement of await readOpenJudgements(this.#deps.warehouse)) {
      if (await this.#advance(judgement)) return true
    }
    return false
  }

  /** False if nothing of it can be done yet. */
  async #advance(judgement: StoredJudgement): Promise<boolean> {
    const { warehouse, settleJudgingMs = judgingLimits.settleMs } = this.#deps
    const known = await readParts(warehouse, judgement.id)
    const done = known.filter(({ isDone }) => isDone)
    const scan = known[0]?.scan ?? 1
    const open = partsOf(judgement).find((part) => !done.some((one) => one.part === part))
    if (open !== undefined) {
      await this.#judgePage(judgement, { scan, part: open, known })
      return true
    }
    const settledMs = instantMs(judgement.requestedAt) + settleJudgingMs
    const isClean = done.every(
      ({ beganAt, tally }) => tally.changed === 0 && instantMs(beganAt) >= settledMs
    )
    if (judgement.isDryRun || isClean) {
      await this.#finish(judgement, done)
      return true
    }
    if (instantMs(await warehouseNow(warehouse)) < settledMs) return false
    const [part = returnsPart] = partsOf(judgement)
    await this.#judgePage(judgement, { scan: scan + 1, part, known: [] })
    return true
  }

  async #finish(judgement: StoredJudgement, done: readonly PartDone[]): Promise<void> {
    const tally = done.reduce((sum, part) => addTallies(sum, part.tally), noTally)
    await this.#deps.onDone(judgement, tally)
    await this.#deps.warehouse.command(doneSql, { id: judgement.id })
    this.#deps.log.info({ judgement: judgement.id, ...tally.counts }, 'a judgement is done')
  }

  async #judgePage(judgement: StoredJudgement, place: Place): Promise<void> {
    const { warehouse, markets, pageRowsMax = judgingLimits.pageRowsMax } = this.#deps
    const progress = this.#progressOf(judgement, place) ?? (await this.#begin(judgement, place))
    await warehouse.barrier(pageReads)
    const { announcedBefore } = await readFinalDays(warehouse)
    const day = place.part === returnsPart ? null : place.part
    const rows = await readPage(warehouse, { judgement, day, after: progress.after, pageRowsMax })
    const page = judgePage(rows, {
      judgement,
      isFinal: tooLateBefore(announcedBefore, markets()).conversion,
      day,
      nowMs: instantMs(await warehouseNow(warehouse)),
    })
    const lost = page.changes.filter(({ verdict }) => verdict !== 'valid')
    const lostCredit = judgement.isDryRun && day !== null ? await this.#lostCredit(day, lost) : []
    const due = judgement.isDryRun
      ? []
      : [...(progress.isRepeated ? page.own : []), ...page.changes]
    let { hasWritten } = progress
    if (due.length > 0 && !hasWritten) {
      // Before anything is written, so that a part that ends halfway is known as one.
      await this.#note(beginPartSql, progress)
      hasWritten = true
    }
    await this.#apply(judgement, due)
    const tally = addTallies(progress.tally, { ...page.tally, lostCredit })
    const last = rows.at(-1)
    if (last !== undefined && rows.length >= pageRowsMax) {
      this.#progress = { ...progress, hasWritten, tally, after: last }
      return
    }
    await this.#note(partDoneSql, { ...progress, tally })
    this.#progress = null
  }

  #progressOf({ id }: StoredJudgement, { scan, part }: Place): Progress | null {
    const now = this.#progress
    return now?.judgementId === id && now.scan === scan && now.part === part ? now : null
  }

  async #begin({ id }: StoredJudgement, { scan, part, known }: Place): Promise<Progress> {
    return {
      judgementId: id,
      scan,
      part,
      beganAt: await warehouseNow(this.#deps.warehouse),
      isRepeated: known.some((one) => one.part === part),
      hasWritten: false,
      after: null,
      tally: noTally,
    }
  }

  async #note(sql: string, { judgementId, scan, part, beganAt, tally }: Progress): Promise<void> {
    const params = { id: judgementId, scan, part, beganAt, tally: JSON.stringify(tally) }
    await this.#deps.warehouse.command(sql, params)
  }

  async #apply(judgement: StoredJudgement, rows: readonly JudgedDelivery[]): Promise<void> {
    const { rowsMax } = judgementLimits
    for (let from = 0; from < rows.length; from += rowsMax) {
      await applyJudgements(this.#deps.warehouse, {
        judgementId: judgement.id,
        judgedAt: judgement.requestedAt,
        rows: rows.slice(from, from + rowsMax),
      })
    }
  }

  /** What the reports credit now of deliveries that would not count any more. */
  async #lostCredit(day: string, lost: readonly JudgedDelivery[]): Promise<readonly Amount[]> {
    const { rowsMax } = judgementLimits
    const amounts: Amount[] = []
    for (let from = 0; from < lost.length; from += rowsMax) {
      const part = lost.slice(from, from + rowsMax)
      const params = {
        day,
        keys: part.map(({ purchaseKey }) => purchaseKey),
        ids: part.map(({ deliveryId }) => deliveryId),
      }
      amounts.push(...(await this.#deps.warehouse.rows<Amount>(lostCreditSql, params)))
    }
    return addAmounts(amounts)
  }
}

interface Place {
  readonly scan: number
  readonly part: string
  readonly known: readonly PartDone[]
}

interface PageAsked {
  readonly judgement: StoredJudgement
  readonly day: string | null
  readonly after: Progress['after']
  readonly pageRowsMax: number
}

async function readPage(
  warehouse: Pick<Warehouse, 'rows'>,
  { judgement, day, after, pageRowsMax }: PageAsked
): Promise<readonly PageRow[]> {
  const params = {
    publisherId: judgement.publisherId,
    from: formatInstant(judgement.fromMs),
    to: formatInstant(judgement.toMs),
    afterKey: after?.purchaseKey ?? '',
    afterId: after?.deliveryId ?? '',
    pageRowsMax,
  }
  return day === null
    ? await warehouse.rows<PageRow>(returnedPageSql, params)
    : await warehouse.rows<PageRow>(boughtSql, { ...params, day })
}
