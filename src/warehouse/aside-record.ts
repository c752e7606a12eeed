// What is stored of a record that is set aside: enough to judge it as it would have been, and no more.

import { setAsideLimits } from '../contract/set-aside.ts'
import type { Warehouse } from './warehouse.ts'
import type { Refusal } from './insert-rows.ts'

/** In place of the user agent of a browser; no bot, as a replay must find too. */
const anyBrowser = 'Mozilla/5.0 (not kept) Firefox/133.0'

/**
 * Whether a user agent is a bot's is all that judging asks, so of a browser it is not kept. The reason
 * is cut, since the messages of the warehouse go on with pieces of the row.
 */
export function minimized(refusal: Refusal, isBot: (userAgent: string) => boolean): Refusal {
  const { key, reason, record } = refusal
  return { key, reason: tellReason(reason), record: withoutUserAgent(record, isBot) }
}

/**
 * The warehouse's messages go on with pieces of the row, which hold transactions and identities: nothing
 * behind the first quoted piece is told.
 */
export function tellReason(reason: string): string {
  const [told = ''] = reason.split(/[`'"{\n]/u, 1)
  return told.trim().slice(0, setAsideLimits.reasonLengthMax)
}

function withoutUserAgent(text: string, isBot: (userAgent: string) => boolean): string {
  if (!text.startsWith('{"type":"ad-event"')) return text
  const record: unknown = JSON.parse(text)
  if (typeof record !== 'object' || record === null || !('userAgent' in record)) return text
  const { userAgent } = record
  const isKept = typeof userAgent !== 'string' || userAgent === '' || isBot(userAgent)
  return isKept ? text : JSON.stringify({ ...record, userAgent: anyBrowser })
}

/**
 * Addresses of senders are kept for 30 days, in which a delivery can be judged anew; after that it is one
 * without an address. The patterns match no text of a record, where each quote has a backslash before it.
 */
export async function forgetAsideAddresses(
  warehouse: Pick<Warehouse, 'rows' | 'command'>
): Promise<void> {
  const [found] = await warehouse.rows<{ count: number }>(
    `SELECT count() AS count FROM set_aside WHERE ${withAddressSql}`,
    patterns
  )
  if ((found?.count ?? 0) === 0) return
  await warehouse.command(
    `ALTER TABLE set_aside UPDATE record = replaceRegexpOne(
       replaceRegexpOne(record, {live:String}, '"origin":{"kind":"live","address":null}'),
       {early:String}, '"sourceAddress":""')
     WHERE ${withAddressSql} SETTINGS mutations_sync = 2`,
    patterns
  )
}

const patterns = {
  live: '"origin":\\{"kind":"live","address":"[^"]+"\\}',
  early: '"sourceAddress":"[^"]+"',
}

const withAddressSql = `set_aside_at < now() - toIntervalDay(30) AND startsWith(record, '{')
  AND (match(record, {live:String}) OR match(record, {early:String}))`
