import { orderByColumns } from './report-request.ts'

/** Readers find columns by position too, so the order never changes and new columns go to the end. */
export const reportColumns = [...orderByColumns, 'CURRENCY'] as const

export type Column = (typeof reportColumns)[number]

const columnsWithoutDate = reportColumns.filter((column) => column !== 'DATE')

/** The columns of one report: a date stands in a row only when the report is broken down by it. */
export function listColumns(query: { readonly dateBreakdown: boolean }): readonly Column[] {
  return query.dateBreakdown ? reportColumns : columnsWithoutDate
}
