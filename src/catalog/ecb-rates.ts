// The reference rates of the European Central Bank as it publishes them, daily and historic:
//
//   file = header line (day line)*         cells between commas, blanks or quotes around them, often one empty
//   header = "Date" currency*              cell at the end
//   day line = day rate*                   "2026-04-13" or "13 April 2026"; no rate: "N/A" or nothing
//
// A rate is units of the currency for one euro. https://www.ecb.europa.eu/stats/policy_and_exchange_rates
import { parseCurrency } from '../domain/currency.ts'
import { parseDay } from '../domain/day.ts'
import { nanosScale, parseDecimal } from '../domain/money.ts'
import type { Clock } from '../lib/clock.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'
import { toLines } from './entry-store.ts'

export interface DayRates {
  readonly day: string
  /** Currency code to its rate, as decimal text of at most 9 digits behind the point. */
  readonly units: readonly (readonly [currency: string, units: string])[]
}

export type ParsedLine<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly message: string }

/** Currencies of the columns; null for the empty column at the end. */
export type RatesHeader = readonly (string | null)[]

const months = [
  'january',
  'february',
  'march',
  'april',
  'may',
  'june',
  'july',
  'august',
  'september',
  'october',
  'november',
  'december',
]
/** Fits the 64 bits of billionths in which ClickHouse reads a rate, with room to spare. */
const unitsNanosMax = 10n ** 18n
const columnsMax = 300
/** The euro began with it. */
const firstRatesDay = '1999-01-01'
/** The bank still publishes the columns of currencies that have ended since. */
const euroBeganMs = Date.parse(firstRatesDay)
/** More than the bank has ever published: some 45 currencies on 7,000 days. */
const knownRatesMax = 6_000_000

export function parseRatesHeader(line: string): ParsedLine<RatesHeader> {
  const [first = '', ...cells] = cellsOf(line)
  const separator = /^"?date"?\s*([;\t|])/iu.exec(line)?.[1]
  if (separator !== undefined) {
    const name = separator === '\t' ? 'tabs' : `"${separator}"`
    return fault(
      `the cells must stand between commas, and a rate have a decimal point: here they stand between ${name}`
    )
  }
  if (first.toLowerCase() !== 'date') return fault('the first column must be Date')
  if (cells.length > columnsMax) return fault(`there must be at most ${columnsMax} columns`)
  const currencies = cells.map((cell) => (cell === '' ? null : cell))
  const named = currencies.filter((currency) => currency !== null)
  const odd = named.find((currency) => !/^[A-Z]{3}$/.test(currency))
  if (odd !== undefined) return fault('each column must be headed by a currency of three capitals')
  if (named.length === 0) return fault('there must be a column of a currency')
  if (new Set(named).size < named.length) return fault('a currency must head one column only')
  const unknown = named.find((currency) => parseCurrency(currency, euroBeganMs) === null)
  if (unknown !== undefined) return fault(`${unknown} must be an ISO 4217 currency code`)
  if (named.includes('EUR')) return fault('the euro must not head a column: rates are for one euro')
  return { ok: true, value: currencies }
}

/** `lastDay` is the latest for which there can be a rate. */
export function parseRatesLine(
  line: string,
  { header, lastDay }: { readonly header: RatesHeader; readonly lastDay: string }
): ParsedLine<DayRates> {
  const [first = '', ...cells] = cellsOf(line)
  const day = readDay(first)
  if (day === null) return fault('the first cell must be a date: 2026-04-13 or 13 April 2026')
  if (day < firstRatesDay) return fault(`the date must not be before ${firstRatesDay}`)
  if (day > lastDay) return fault(`the date must not lie in the future: at most ${lastDay}`)
  if (cells.length !== header.length) {
    return fault(`must have ${header.length + 1} cells as the header has, not ${cells.length + 1}`)
  }
  const units: (readonly [string, string])[] = []
  for (const [index, currency] of header.entries()) {
    const cell = cells[index] ?? ''
    if (cell === '' || cell === 'N/A') continue
    if (currency === null) return fault('a rate stands in a column without a currency')
    if (!isRate(cell)) {
      return fault(`${currency} must be a positive decimal of at most 9 digits behind the point`)
    }
    units.push([currency, cell])
  }
  return { ok: true, value: { day, units } }
}

function isRate(cell: string): boolean {
  const nanos = /^\d{1,12}(?:\.\d{1,9})?$/.test(cell) ? parseDecimal(cell, nanosScale) : null
  return nanos !== null && nanos > 0n && nanos <= unitsNanosMax
}

function readDay(cell: string): string | null {
  const spelled = /^(\d{1,2}) ([A-Za-z]+) (\d{4})$/.exec(cell)
  if (spelled === null) return parseDay(cell)
  const [, date = '', name = '', year = ''] = spelled
  const month = months.indexOf(name.toLowerCase()) + 1
  return parseDay(`${year}-${String(month).padStart(2, '0')}-${date.padStart(2, '0')}`)
}

function cellsOf(line: string): readonly string[] {
  return line
    .replace(/\r$/, '')
    .split(',')
    .map((cell) => cell.trim().replace(/^"(.*)"$/u, '$1'))
}

function fault(message: string): { readonly ok: false; readonly message: string } {
  return { ok: false, message }
}

/** A rate that was replaced by another one. */
export interface RateChange {
  readonly currency: string
  readonly day: string
  readonly before: string
  readonly after: string
}

export interface StoredRates {
  /** Rates of which there was none for their day. */
  readonly addedCount: number
  readonly changes: readonly RateChange[]
}

export interface RateStore {
  /** One insert, so all rates or none. They replace earlier ones of the same currency and day. */
  store(days: readonly DayRates[]): Promise<StoredRates>
}

export function createRateStore(
  warehouse: Pick<Warehouse, 'insert' | 'rows' | 'barrier'>,
  clock: Clock
): RateStore {
  return {
    async store(days) {
      const version = clock()
      const stored = compare(days, await readKnown(warehouse, days))
      const lines = days.flatMap(({ day, units }) =>
        units.map(([currency, rate]) =>
          JSON.stringify({ currency, day, units_per_euro: rate, version })
        )
      )
      await warehouse.insert('rate', toLines(lines))
      return stored
    },
  }
}

/** The rates of the days, by currency and day. */
type KnownRates = ReadonlyMap<string, string>

interface KnownRow {
  readonly currency: string
  readonly day: string
  readonly units: string
}

async function readKnown(
  warehouse: Pick<Warehouse, 'rows' | 'barrier'>,
  days: readonly DayRates[]
): Promise<KnownRates> {
  const sorted = days.map(({ day }) => day).toSorted()
  const [firstDay, lastDay] = [sorted[0], sorted.at(-1)]
  if (firstDay === undefined || lastDay === undefined) return new Map()
  await warehouse.barrier(['rate'])
  const rows = await warehouse.rows<KnownRow>(
    `SELECT currency, toString(day) AS day, toString(units_per_euro) AS units FROM rate FINAL
     WHERE rate.day BETWEEN {firstDay:Date} AND {lastDay:Date}
     ORDER BY currency, day LIMIT {ratesMax:UInt64}`,
    { firstDay, lastDay, ratesMax: knownRatesMax }
  )
  return new Map(rows.map(({ currency, day, units }) => [nameOf(currency, day), units]))
}

function compare(days: readonly DayRates[], known: KnownRates): StoredRates {
  let addedCount = 0
  const changes: RateChange[] = []
  for (const { day, units } of days) {
    for (const [currency, after] of units) {
      const before = known.get(nameOf(currency, day))
      if (before === undefined) addedCount += 1
      else if (nanosOf(before) !== nanosOf(after)) changes.push({ currency, day, before, after })
    }
  }
  return { addedCount, changes }
}

function nameOf(currency: string, day: string): string {
  return `${currency} ${day}`
}

function nanosOf(units: string): bigint | null {
  return parseDecimal(units, nanosScale)
}
