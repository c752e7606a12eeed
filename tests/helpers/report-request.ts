import type { ReportRequest } from '../../src/contract/report-request.ts'

/** March by clicks, on one page, ordered by product. */
export function aReportRequest(changes: Partial<ReportRequest> = {}): ReportRequest {
  return {
    filters: [],
    startDate: '2026-03-01',
    endDate: '2026-03-31',
    attributionProfile: 'CLK_14_DAYS',
    page: 0,
    limit: 10_000,
    sortType: 'ASC',
    dateBreakdown: false,
    orderBy: 'GTIN',
    ...changes,
  }
}
