// Waits until the reports say what they must, and says in the end where they do not.
import { parse } from 'csv-parse/sync'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Admin } from './admin.ts'
import { advertisers } from './catalog.ts'
import { compareReports, type Comparison, type CsvRow } from './comparison.ts'
import { columns, printRow, type PrintedRow } from './expected-report.ts'
import { profiles, type ExpectedRow, type Profile } from './expectation.ts'

// A busy machine may take its time as long as the figures still move.
const limits = { standstillMsMax: 60_000, allMsMax: 240_000, pollEveryMs: 700 } as const

const dayMs = 86_400_000

/** The days of the history, and a day more at both ends: the run may cross midnight in any of the markets. */
export interface DayRange {
  readonly startDate: string
  readonly endDate: string
}

export function dayRangeAround(nowMs: number, historyDays: number): DayRange {
  return { startDate: isoDay(nowMs - (historyDays + 1) * dayMs), endDate: isoDay(nowMs + dayMs) }
}

function isoDay(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10)
}

interface ReportQuestion {
  readonly advertiserId: number
  readonly profile: Profile
  readonly expected: readonly PrintedRow[]
}

export interface CheckedReport {
  readonly advertiserId: number
  readonly profile: Profile
  readonly rows: readonly CsvRow[]
  readonly comparison: Comparison
}

export interface Check {
  readonly admin: Admin
  readonly range: DayRange
  readonly reports: ReadonlyMap<Profile, readonly ExpectedRow[]>
}

/**
 * Reads one report after the other until it equals the expectation, then all of them once more, because
 * a figure that was right must also stay right.
 */
export async function checkReports(
  check: Check,
  onProgress: (text: string) => void
): Promise<readonly CheckedReport[]> {
  const questions = questionsOf(check.reports)
  const patience = new Patience()
  for (const [index, question] of questions.entries()) {
    for (;;) {
      const { comparison } = await checkReport(check, question)
      const count = comparison.differences.length
      if (count === 0 || patience.isOverAt(`${index} ${count}`)) break
      onProgress(
        `${index} of ${questions.length} reports are as expected, ${count} rows or cells to go`
      )
      await sleep(limits.pollEveryMs)
    }
  }

  const checked: CheckedReport[] = []
  for (const question of questions) checked.push(await checkReport(check, question))
  return checked
}

class Patience {
  readonly #startedAtMs = Date.now()
  #movedAtMs = Date.now()
  #last = ''

  isOverAt(state: string): boolean {
    const nowMs = Date.now()
    if (state !== this.#last) this.#movedAtMs = nowMs
    this.#last = state
    const isStill = nowMs - this.#movedAtMs > limits.standstillMsMax
    return isStill || nowMs - this.#startedAtMs > limits.allMsMax
  }
}

function questionsOf(reports: Check['reports']): readonly ReportQuestion[] {
  return advertisers.flatMap(({ id }) =>
    profiles.map((profile) => ({
      advertiserId: id,
      profile,
      expected: (reports.get(profile) ?? [])
        .filter(({ advertiserId }) => advertiserId === id)
        .map(printRow),
    }))
  )
}

async function checkReport(check: Check, question: ReportQuestion): Promise<CheckedReport> {
  const { advertiserId, profile, expected } = question
  const { status, header, rows } = await readReport(check, question)
  const name = `advertiser ${advertiserId}, ${profile}`
  const comparison = compareReports({ name, expected, actual: rows })
  const differences = [...comparison.differences]
  if (header !== columns.join(',')) differences.unshift(`${name}: the header is ${header}`)
  if (status !== String(rows.length)) differences.unshift(`${name}: x-total-rows is ${status}`)
  return { advertiserId, profile, rows, comparison: { ...comparison, differences } }
}

async function readReport({ admin, range }: Check, { advertiserId, profile }: ReportQuestion) {
  const { body, headers } = await admin.answer({
    method: 'POST',
    path: `/v2/advertisers/${advertiserId}/reports/spa/product.csv`,
    json: { ...range, attributionProfile: profile, page: 0, limit: 10_000 },
    status: 200,
  })
  const lines: string[][] = parse(body)
  const [header = [], ...cells] = lines
  const rows = cells.map((line): CsvRow =>
    Object.fromEntries(header.map((column, index) => [column, line[index] ?? '']))
  )
  return { status: String(headers['x-total-rows'] ?? 'missing'), header: header.join(','), rows }
}
