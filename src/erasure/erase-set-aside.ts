// Removes the set-aside records of erased people, as far as their owner can be told: conversions by their
// hashes, ad events by opening their tokens. A token whose key is gone can be opened by nobody, and a
// damaged frame cannot be read; both stay.

import { readRecord } from '../spool/record.ts'
import type { SpoolRecord } from '../spool/record.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'
import type { RowContext } from '../pipeline/rows.ts'

export interface EraseSetAsideDeps {
  readonly warehouse: Warehouse
  readonly rowContext: Pick<RowContext, 'openTrackingData' | 'hashIdentity'>
}

export interface ErasedPerson {
  readonly publisherId: number
  readonly identities: ReadonlySet<string>
  readonly requestedAtMs: number
}

const pageRows = 200

interface SetAsideRow {
  readonly key: string
  readonly record: string
}

export async function eraseSetAside(
  deps: EraseSetAsideDeps,
  people: readonly ErasedPerson[]
): Promise<void> {
  if (people.length === 0) return
  const { warehouse } = deps
  await warehouse.barrier(['set_aside'])
  for (let after = ''; ;) {
    const page = await warehouse.rows<SetAsideRow>(
      `SELECT key, record FROM set_aside WHERE key > {after:String} AND startsWith(record, '{')
       ORDER BY key LIMIT {limit:UInt32}`,
      { after, limit: pageRows }
    )
    const keys = page.filter((row) => isOfAny(deps, row, people)).map(({ key }) => key)
    if (keys.length > 0) {
      await warehouse.command(
        `ALTER TABLE set_aside DELETE WHERE key IN {keys:Array(String)} SETTINGS mutations_sync = 2`,
        { keys }
      )
    }
    const last = page.at(-1)
    if (last === undefined || page.length < pageRows) return
    after = last.key
  }
}

function isOfAny(
  deps: EraseSetAsideDeps,
  { record: text }: SetAsideRow,
  people: readonly ErasedPerson[]
): boolean {
  const record = parseRecord(text)
  if (record === null) return false
  return people.some(
    ({ publisherId, identities, requestedAtMs }) =>
      record.receivedAtMs <= requestedAtMs &&
      identitiesOf(deps, record, publisherId).some((one) => identities.has(one))
  )
}

function parseRecord(text: string): SpoolRecord | null {
  try {
    return readRecord(JSON.parse(text))
  } catch {
    return null
  }
}

function identitiesOf(
  { rowContext }: EraseSetAsideDeps,
  record: SpoolRecord,
  publisherId: number
): readonly string[] {
  if (record.type === 'conversion') {
    return record.publisherId === publisherId ? [record.userIdentity, record.loginIdentity] : []
  }
  // A return names a transaction but no person.
  if (record.type === 'return') return []
  const opened = rowContext.openTrackingData(record.trackingData)
  if (!opened.ok || opened.data.publisherId !== publisherId) return []
  return [
    rowContext.hashIdentity('user', publisherId, opened.data.userId),
    rowContext.hashIdentity('login', publisherId, opened.data.userLoggedInId),
  ]
}
