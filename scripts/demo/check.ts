// Waits until the reports say what they must, and says in the end where they do not.
import { parse } from 'csv-parse/sync'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Admin } from './admin.ts'
import { advertisers } from './catalog.ts'
import { compareReports, type Comparison, type CsvRow } from './comparison.ts'
import { columns, printRow, type PrintedRow } from './expected-report.ts'
import { profiles, type ExpectedRow, type Profile } from './expectation.ts'

const limits = { attributedMsMax: 60_000, pollEveryMs: 700 } as const

const dayMs = 86_400_000

/** Yesterday to tomorrow: the run may cross midnight in any of the markets. */
export interface DayRange {
  readonly startDate: string
  readonly endDate: string
}

export function dayRangeAround(nowMs: number): DayRange {
  const day = (atMs: number) => new Date(atMs).toISOString().slice(0, 10)
  return { startDate: day(nowMs - dayMs), endDate: day(nowMs + dayMs) }
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
 * Reads every report until it equals the expectation, then reads all of them once more, because a
 * figure that was right must also stay right.
 */
export async function checkReports(
  check: Check,
  onProgress: (equal: number, all: number) => void
): Promise<readonly CheckedReport[]> {
  const questions = questionsOf(check.reports)
  const deadlineMs = Date.now() + limits.attributedMsMax
  let open = questions
  for (;;) {
    const stillOpen: ReportQuestion[] = []
    for (const question of open) {
      const { comparison } = await checkReport(check, question)
      if (comparison.differences.length > 0) stillOpen.push(question)
      onProgress(
        questions.length - open.length + open.indexOf(question) + 1 - stillOpen.length,
        questions.length
      )
    }
    open = stillOpen
    if (open.length === 0 || Date.now() > deadlineMs) break
    await sleep(limits.pollEveryMs)
  }

  const checked: CheckedReport[] = []
  for (const question of questions) checked.push(await checkReport(check, question))
  return checked
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
