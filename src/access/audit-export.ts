// Pages of the audit as it is stored, oldest first, with everything that is needed to check its chains.
import type { ChainedRecord } from '../domain/audit-chain.ts'
import { assert } from '../lib/assert.ts'
import type { ParamValue, Warehouse } from '../warehouse/warehouse.ts'
import { printMicros, type AuditPlace } from './audit-trail.ts'

export interface AuditExportQuestion {
  /** Milliseconds since 1970 UTC; from belongs to the range, to does not. */
  readonly fromMs: number | null
  readonly toMs: number | null
  /** The page begins after this record; null for the first page. */
  readonly after: AuditPlace | null
  readonly limit: number
}

export interface AuditExportPage {
  readonly records: readonly ChainedRecord[]
  /** Null on the last page. */
  readonly next: AuditPlace | null
}

/** A page ends early rather than hold more than this of details, besides those of its last record. */
const detailsBytesMax = 8_388_608

type ExportRow = Omit<ChainedRecord, 'at'> & {
  readonly atMicros: number
  /** Records from here on, of those that were read. */
  readonly available: number
}

/** One record more than the page holds is read; it tells that there are others. */
export async function readAuditExport(
  warehouse: Pick<Warehouse, 'rows' | 'barrier'>,
  question: AuditExportQuestion
): Promise<AuditExportPage> {
  const { conditions, params } = conditionsOf(question)
  await warehouse.barrier(['audit'])
  const rows = await warehouse.rows<ExportRow>(
    `SELECT * EXCEPT earlierBytes FROM (
       SELECT *, count() OVER () AS available,
         sum(length(details)) OVER (
           ORDER BY atMicros, id ROWS UNBOUNDED PRECEDING
         ) - length(details) AS earlierBytes
       FROM (
         SELECT toUnixTimestamp64Micro(at) AS atMicros, id, key_id AS keyId, key_name AS keyName, action,
           subject, details, writer, sequence, previous_hash AS previousHash, heads, hash
         FROM audit ${conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : ''}
         ORDER BY at, id LIMIT {rowsMax:UInt32}
       )
     ) WHERE earlierBytes <= {bytesMax:UInt64}
     ORDER BY atMicros, id LIMIT {limit:UInt32}`,
    { ...params, rowsMax: question.limit + 1, limit: question.limit, bytesMax: detailsBytesMax }
  )
  const last = rows.at(-1)
  const hasMore = last !== undefined && last.available > rows.length
  return {
    records: rows.map(toRecord),
    next: hasMore ? { atMicros: last.atMicros, id: last.id } : null,
  }
}

function toRecord({ atMicros, available, ...row }: ExportRow): ChainedRecord {
  assert(available > 0, 'a record that was read is available')
  return { at: printMicros(atMicros), ...row }
}

function conditionsOf({ fromMs, toMs, after }: AuditExportQuestion) {
  const conditions: string[] = []
  const params: Record<string, ParamValue> = {}
  if (fromMs !== null) {
    conditions.push('at >= fromUnixTimestamp64Milli({fromMs:Int64})')
    params['fromMs'] = fromMs
  }
  if (toMs !== null) {
    conditions.push('at < fromUnixTimestamp64Milli({toMs:Int64})')
    params['toMs'] = toMs
  }
  if (after !== null) {
    const instant = 'fromUnixTimestamp64Micro({afterMicros:Int64})'
    // The first condition says nothing new, but the index of the table can use it.
    conditions.push(`at >= ${instant} AND (at > ${instant} OR id > {afterId:String})`)
    params['afterMicros'] = after.atMicros
    params['afterId'] = after.id
  }
  return { conditions, params }
}
