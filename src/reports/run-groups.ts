// Answers reports by groups, in pages like those of the report.

import type { GroupRequest } from '../contract/group-request.ts'
import { Conversions } from './conversions.ts'
import { BasisReader } from './report-basis.ts'
import { readFinalDays } from '../days/final-days.ts'
import { buildGroupsQuery, type GroupsSource } from './groups-query.ts'
import {
  createGroupFormat,
  readGroupTotals,
  readUnconvertedCount,
  type AreOrdersKnown,
  type GroupRow,
} from './groups-rows.ts'
import { readTargetParams } from './one-currency.ts'
import { questionOf } from './kept-pages.ts'
import { answerPage, type Computed, type PagedResult } from './paged.ts'
import type { ReportDeps } from './run-report.ts'

export type GroupsResult = PagedResult<GroupRow>

export interface GroupsCall {
  readonly advertiserId: number
  readonly request: GroupRequest
  /** Whose pages these are: kept pages are never shared between keys. */
  readonly keyId: string
  readonly signal: AbortSignal
  /** On the columns of the answer, from a closed list, with the values that it binds. */
  readonly condition?: { readonly sql: string; readonly params: Readonly<Record<string, string>> }
}

/** Resolves with the whole page. */
export type RunGroups = (call: GroupsCall) => Promise<GroupsResult>

interface Deps extends ReportDeps {
  readonly basis: BasisReader
  readonly conversions: Conversions
}

export function createGroupsRunner(given: ReportDeps): RunGroups {
  const { basis = new BasisReader(given) } = given
  const deps = { ...given, basis, conversions: new Conversions() }
  return async (call) => {
    const { page, ...body } = call.request
    const question = questionOf([call.keyId, call.advertiserId, body, call.condition ?? null])
    const asked = { question, owner: call.keyId, page, limit: body.limit, signal: call.signal }
    return await answerPage(deps.keptPages, asked, (signal) => compute(deps, { ...call, signal }))
  }
}

async function compute(deps: Deps, call: GroupsCall): Promise<Computed<GroupRow>> {
  const { advertiserId, request } = call
  const hasDates = request.groupBy.includes('DATE')
  const { convertTo = null } = request
  // Of rows without a day nothing can be converted.
  const dateBreakdown = hasDates || convertTo !== null
  const catalog = deps.catalog()
  const basis = await deps.basis.read(request, () => !dateBreakdown)
  const areOrdersKnown = await readOrdersKnown(deps.warehouse, request)
  const withOrders = areOrdersKnown(hasDates ? request.endDate : null)
  const asked = { ...request, dateBreakdown }
  const target = await readTarget(deps, request)
  const source = {
    advertiserId,
    request: asked,
    catalog,
    ...basis,
    withOrders,
    ...target,
  }
  return {
    advertiserId,
    blocks: streamGroups(deps, source, call),
    readTotals: (row) => ({
      ...(row === null ? noGroups : readGroupTotals(row, areOrdersKnown(null))),
      completeThrough: basis.days.completeThrough,
      renewingDays: basis.days.renewingDays,
    }),
    format: createGroupFormat(advertiserId, catalog, areOrdersKnown),
    areRowsKept: () => deps.basis.areRowsKept(basis),
  }
}

async function readTarget(
  { warehouse, catalog }: ReportDeps,
  { convertTo = null, startDate, endDate }: GroupRequest
): Promise<Pick<GroupsSource, 'target'>> {
  if (convertTo === null) return {}
  const range = { currency: convertTo, first: startDate, last: endDate }
  return { target: await readTargetParams(warehouse, catalog().markets(), range) }
}

const noGroups = { totalRows: 0, unconvertedCount: 0, sums: [] }

/** Orders are counted from attributions, which are dropped once their days are final. */
async function readOrdersKnown(
  warehouse: ReportDeps['warehouse'],
  { withOrders, startDate }: GroupRequest
): Promise<AreOrdersKnown> {
  if (!withOrders) return () => false
  const { announcedBefore } = await readFinalDays(warehouse)
  return (day) => announcedBefore === null || (day ?? startDate) >= announcedBefore
}

function streamGroups(
  { warehouse, conversions }: Deps,
  source: Omit<GroupsSource, 'converts'>,
  { condition, signal }: Pick<GroupsCall, 'condition' | 'signal'>
): AsyncIterable<Buffer> {
  const { advertiserId, rates } = source
  const limited = condition === undefined ? source : { ...source, condition: condition.sql }
  return conversions.blocks({
    advertiserId,
    rates,
    stream: (converts) => {
      const { sql, params } = buildGroupsQuery({ ...limited, converts })
      return warehouse.stream(sql, { ...params, ...condition?.params }, signal)
    },
    readUnconvertedCount,
  })
}
