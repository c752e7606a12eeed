// A campaign client before a server that plays a script, and the reports it plays.
import assert from 'node:assert/strict'
import {
  ClientError,
  createCampaignClient,
  type CampaignClientOptions,
  type ReportQuery,
  type ReportRow,
} from '../../src/client/client.ts'
import { listColumns } from '../../src/contract/report-columns.ts'
import { csvRow } from '../../src/domain/csv.ts'
import { answer } from '../helpers/scripted-server.ts'

export const key = 'st_a-key-that-nobody-may-read'
export const query: ReportQuery = { startDate: '2026-03-01', endDate: '2026-03-31' }
export const columns = listColumns({ dateBreakdown: false })
export const head = csvRow(columns.map((text) => ({ text })))

export function clientOf(
  { url }: { readonly url: string },
  options: Partial<CampaignClientOptions> = {}
) {
  return createCampaignClient({ url, key, backoffMs: 1, backoffMsMax: 2, ...options })
}

/** A row whose GTIN is its number. */
export function rowText(index: number, title = 'Coffee, "ground"\r\n1 kg'): string {
  return csvRow(
    columns.map((column) => {
      if (column === 'GTIN') return { number: String(index) }
      return column === 'PRODUCT_TITLE' ? { text: title } : { number: '0.10' }
    })
  )
}

export function rows(from: number, to: number): string {
  return Array.from({ length: to - from }, (_, index) => rowText(from + index)).join('')
}

export function csvHeaders(totalRows: number, others: Readonly<Record<string, string>> = {}) {
  return { 'content-type': 'text/csv; charset=utf-8', 'x-total-rows': String(totalRows), ...others }
}

export function page(
  text: string,
  totalRows: number,
  others: Readonly<Record<string, string>> = {}
) {
  return answer(200, text, csvHeaders(totalRows, others))
}

export async function collect(stream: AsyncIterable<ReportRow>): Promise<ReportRow[]> {
  const collected: ReportRow[] = []
  for await (const row of stream) collected.push(row)
  return collected
}

/** What was read before the failure, and the failure. */
export async function readToFailure(stream: AsyncIterable<ReportRow>) {
  const gtins: string[] = []
  try {
    for await (const { GTIN } of stream) gtins.push(GTIN)
  } catch (error) {
    assert.ok(error instanceof ClientError)
    return { gtins, error }
  }
  return assert.fail(`it ended well after ${gtins.length} rows`)
}
