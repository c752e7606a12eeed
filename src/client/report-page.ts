// One page of a report as CSV: what its headers say, and its bytes, which end well only if they are whole.
import { Readable } from 'node:stream'
import { reportLimits, type ReportBody } from '../contract/report-request.ts'
import { ClientError, withDetails } from './client-error.ts'
import type { Exchange } from './exchange.ts'
import { RecordCounter } from './record-counter.ts'

export interface ReportPage {
  /** Rows of the whole report, over all pages. */
  readonly totalRows: number
  /** Amounts of the whole report that are missing for want of an exchange rate. */
  readonly unconvertedCount: number
  /** The last day from which on back the figures are sealed; null if there is none. */
  readonly completeThrough: string | null
  /** How many days input has reached since they were sealed; they are sealed again soon. */
  readonly renewingDayCount: number
}

export interface CsvPage extends ReportPage {
  /** The name that the service proposes, without folders. */
  readonly fileName: string | null
  /**
   * The bytes of the page, header line included. It ends only when it is whole and fails otherwise, so
   * what was written until then must not be used. Read it to its end, or destroy it.
   */
  readonly body: Readable
}

export interface OpenPage extends CsvPage {
  /** Pages with the same id are cut from the same rows; null when the result is one page. */
  readonly resultId: string | null
  readonly attemptCount: number
}

interface Asked {
  readonly request: Pick<ReportBody, 'page' | 'limit'>
  readonly silenceMs: number
  readonly attemptCount: number
}

export function openPage(exchange: Exchange, asked: Asked): OpenPage {
  const { request, silenceMs, attemptCount } = asked
  const type = exchange.header('content-type') ?? ''
  if (!/^text\/csv\b/i.test(type)) throw unexpected('the answer is not CSV')
  const totalRows = readCount(exchange, 'x-total-rows')
  const { page = 0, limit = reportLimits.limitMax } = request
  const rowCount = Math.min(Math.max(totalRows - page * limit, 0), limit)
  exchange.stream(silenceMs)
  return {
    totalRows,
    unconvertedCount:
      exchange.header('x-unconverted') === null ? 0 : readCount(exchange, 'x-unconverted'),
    completeThrough: exchange.header('x-complete-through'),
    renewingDayCount:
      exchange.header('x-renewing-days') === null ? 0 : readCount(exchange, 'x-renewing-days'),
    fileName: readFileName(exchange.header('content-disposition')),
    resultId: exchange.header('x-result-id'),
    attemptCount,
    body: openBody(exchange, { rowCount, attemptCount }),
  }
}

function readCount(exchange: Exchange, name: string): number {
  const text = exchange.header(name) ?? ''
  if (!/^\d{1,15}$/.test(text)) throw unexpected(`the header ${name} is no number`)
  return Number(text)
}

/** Nothing that could lead out of the folder it is written to. */
function readFileName(disposition: string | null): string | null {
  return /filename="(\w[\w.-]{0,199})"/.exec(disposition ?? '')?.[1] ?? null
}

/** Pulls a part when the reader has taken the one before. */
function openBody(
  exchange: Exchange,
  { rowCount, attemptCount }: { readonly rowCount: number; readonly attemptCount: number }
): Readable {
  const counter = new RecordCounter()
  const pull = async (stream: Readable) => {
    try {
      const part = await exchange.read()
      if (part === null) checkWhole(counter, rowCount)
      else counter.add(part)
      stream.push(part)
    } catch (error) {
      stream.destroy(toError(error, { attemptCount, status: exchange.status }))
    }
  }
  return new Readable({
    read() {
      void pull(this)
    },
    destroy(error, done) {
      exchange.close()
      done(error)
    },
  })
}

function toError(error: unknown, details: Parameters<typeof withDetails>[1]): Error {
  if (error instanceof ClientError) return withDetails(error, details)
  return error instanceof Error ? error : new Error(String(error))
}

/**
 * The transport alone cannot be trusted with this: when the connection was to be closed after the answer
 * (any proxy may say so), fetch takes its end for the end of the answer, also in the middle of a chunk.
 */
function checkWhole(counter: RecordCounter, rowCount: number): void {
  const readCountOfRows = counter.recordCount - 1
  if (counter.isAtEnd && readCountOfRows === rowCount) return
  if (readCountOfRows > rowCount) {
    throw new ClientError(
      'ANSWER_UNEXPECTED',
      `the page has ${readCountOfRows} rows instead of ${rowCount}`
    )
  }
  throw new ClientError(
    'ANSWER_BROKEN',
    `the answer ended after ${Math.max(readCountOfRows, 0)} of ${rowCount} rows`
  )
}

function unexpected(what: string): ClientError {
  return new ClientError('ANSWER_UNEXPECTED', `${what}: is this the campaign port of Shelftrace?`)
}
