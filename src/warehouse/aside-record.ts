// Reduces a record that is set aside to what judging it later needs, and no more.

import { setAsideLimits } from '../contract/set-aside.ts'
import { shiftInstant, warehouseNow } from './instant.ts'
import type { Warehouse } from './warehouse.ts'
import type { Caller } from '../domain/caller.ts'

/** A record that is not taken, and why. */
export interface Refusal {
  readonly key: string
  readonly reason: string
  readonly record: string
  /** Of an ad event that contradicts the catalog. */
  readonly contradiction?: { readonly publisherId: number; readonly rule: string }
}

type CallerReader = (userAgent: string) => Caller

/** Replaces the user agent of a browser; a replay must not take it for a bot either. */
const anyBrowser = 'Mozilla/5.0 (not kept) Firefox/133.0'

/**
 * Removes the user agent where judging does not need it: a tracker has noted what it tells, and of a browser's
 * judging only asks whether it is one. Shortens the reason.
 */
export function minimized(refusal: Refusal, callerOf: CallerReader): Refusal {
  const { key, reason, record } = refusal
  return { key, reason: tellReason(reason), record: withoutUserAgent(record, callerOf) }
}

/**
 * Messages of the warehouse quote pieces of the row, which may contain transactions and identities. So the reason
 * ends before the first quoted piece.
 */
export function tellReason(reason: string): string {
  const [told = ''] = reason.split(/[`'"{\n]/u, 1)
  return told.trim().slice(0, setAsideLimits.reasonLengthMax)
}

function withoutUserAgent(text: string, callerOf: CallerReader): string {
  if (!text.startsWith('{"type":"ad-event"')) return text
  const record: unknown = JSON.parse(text)
  if (typeof record !== 'object' || record === null || !('userAgent' in record)) return text
  const { userAgent } = record
  if (typeof userAgent !== 'string' || userAgent === '') return text
  // What the tracker read of it stands in the record.
  if ('caller' in record) return JSON.stringify({ ...record, userAgent: '' })
  const isKept = callerOf(userAgent) !== 'ordinary'
  return isKept ? text : JSON.stringify({ ...record, userAgent: anyBrowser })
}

/**
 * Removes addresses of senders after 30 days; until then a delivery can be judged again, and after that it counts
 * as one without an address. The patterns cannot match text inside a record, where quotes have a backslash.
 */
export async function forgetAsideAddresses(
  warehouse: Pick<Warehouse, 'rows' | 'command' | 'barrier'>
): Promise<void> {
  // Replicas would carry out a change by `now()` at instants of their own, so ClickHouse refuses it there.
  const before = shiftInstant(await warehouseNow(warehouse), -addressesKeptMs)
  const params = { ...patterns, before }
  await warehouse.barrier(['set_aside'])
  const [found] = await warehouse.rows<{ count: number }>(
    `SELECT count() AS count FROM set_aside WHERE ${withAddressSql}`,
    params
  )
  if ((found?.count ?? 0) === 0) return
  await warehouse.command(
    `ALTER TABLE set_aside UPDATE record = replaceRegexpOne(
       replaceRegexpOne(record, {live:String}, '"origin":{"kind":"live","address":null}'),
       {early:String}, '"sourceAddress":""')
     WHERE ${withAddressSql} SETTINGS mutations_sync = 2`,
    params
  )
}

/** 30 days. */
const addressesKeptMs = 2_592_000_000

const patterns = {
  live: '"origin":\\{"kind":"live","address":"[^"]+"\\}',
  early: '"sourceAddress":"[^"]+"',
}

const withAddressSql = `set_aside_at < {before:DateTime64(6, 'UTC')} AND startsWith(record, '{')
  AND (match(record, {live:String}) OR match(record, {early:String}))`
