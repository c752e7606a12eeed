// Figures for people. The service answers decimal text. It is given to Intl as text, which prints it digit by
// digit, and is never converted to a float.
import { minorDigits } from '../../src/domain/currency.ts'
import { locale } from './language.ts'

export type Figure = string | null | undefined

/** Shown where there is no figure: a ratio over zero, or a name that the catalog does not have. */
export const nothing = '–'

const decimalForm = /^-?\d+(?:\.\d+)?$/u

function isDecimal(text: string): text is `${number}` {
  return decimalForm.test(text)
}

const formats = new Map<string, Intl.NumberFormat>()

/** Making a format costs far more than using it. */
function formatOf(key: string, options: Intl.NumberFormatOptions): Intl.NumberFormat {
  const known = formats.get(key)
  if (known !== undefined) return known
  const made = new Intl.NumberFormat(locale(), options)
  formats.set(key, made)
  return made
}

export function formatCount(value: Figure): string {
  if (value === null || value === undefined || !isDecimal(value)) return nothing
  return formatOf('count', { maximumFractionDigits: 0 }).format(value)
}

export function formatNumber(value: number, digits = 0): string {
  return formatOf(`number ${digits}`, { maximumFractionDigits: digits }).format(value)
}

/** An exact amount with the digits of its currency; the whole one stands in the element's value. */
export function formatMoney(value: Figure, currency: Figure): string {
  const digits = minorDigits(currency ?? '')
  return formatInCurrency(value, currency, { least: digits, most: digits })
}

/** A price with all its digits, at least those of its currency: what a click costs may be less than a cent. */
export function formatPrice(value: Figure, currency: Figure): string {
  return formatInCurrency(value, currency, { least: minorDigits(currency ?? ''), most: 9 })
}

interface Digits {
  readonly least: number
  readonly most: number
}

function formatInCurrency(value: Figure, currency: Figure, { least, most }: Digits): string {
  if (value === null || value === undefined || !isDecimal(value)) return nothing
  const fraction = {
    minimumFractionDigits: least,
    maximumFractionDigits: most,
    roundingMode: 'halfEven',
  } as const
  if (currency === null || currency === undefined || !/^[A-Z]{3}$/u.test(currency)) {
    return formatOf(`plain ${least} ${most}`, fraction).format(value)
  }
  const options = { style: 'currency', currency, ...fraction } as const
  return formatOf(`${currency} ${least} ${most}`, options).format(value)
}

/** A share of 1 in per cent with two digits; the whole one stands in the element's value. */
export function formatPercent(value: Figure): string {
  if (value === null || value === undefined || !isDecimal(value)) return nothing
  const options = {
    style: 'percent',
    minimumFractionDigits: 2,
    maximumFractionDigits: 2,
    roundingMode: 'halfEven',
  } as const
  return formatOf('percent', options).format(value)
}

export function formatRatio(value: Figure): string {
  if (value === null || value === undefined || !isDecimal(value)) return nothing
  const options = {
    minimumFractionDigits: 2,
    maximumFractionDigits: 2,
    roundingMode: 'halfEven',
  } as const
  return formatOf('ratio', options).format(value)
}

/** How much more or less than before, in tenths of a per cent; null without a base. */
export function changeOf(value: Figure, before: Figure): number | null {
  const [now, then] = [Number(value ?? Number.NaN), Number(before ?? Number.NaN)]
  if (!Number.isFinite(now) || !Number.isFinite(then) || then === 0) return null
  return (now - then) / Math.abs(then)
}

/** Beyond this share of growth, people read a factor more easily. */
const percentMax = 9.995

export function formatChange(change: number): string {
  if (change >= percentMax) return `×${formatNumber(change + 1)}`
  const options = {
    style: 'percent',
    minimumFractionDigits: 1,
    maximumFractionDigits: 1,
    signDisplay: 'exceptZero',
  } as const
  return formatOf('change', options).format(change)
}

/** 1.2% on an axis. */
export function formatShortPercent(value: number): string {
  return formatOf('short-percent', { style: 'percent', maximumFractionDigits: 1 }).format(value)
}

/** An axis has little room: 1.2K rather than 1,200. */
export function formatShort(value: number): string {
  const options = { notation: 'compact', maximumFractionDigits: 1 } as const
  return formatOf('short', options).format(value)
}

const dayFormat = new Intl.DateTimeFormat(locale(), { dateStyle: 'medium', timeZone: 'UTC' })
const shortDayFormat = new Intl.DateTimeFormat(locale(), {
  day: 'numeric',
  month: 'short',
  timeZone: 'UTC',
})
const instantFormat = new Intl.DateTimeFormat(locale(), {
  dateStyle: 'medium',
  timeStyle: 'medium',
})

/** A day belongs to the market and must not be shifted by a time zone. */
export function formatDay(day: string | null | undefined): string {
  if (day === null || day === undefined || Number.isNaN(Date.parse(day))) return nothing
  return dayFormat.format(new Date(`${day}T00:00:00Z`))
}

const weekdayFormat = new Intl.DateTimeFormat(locale(), {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  timeZone: 'UTC',
})

/** With its day of the week, by which shops sell. */
export function formatWeekday(day: string): string {
  return weekdayFormat.format(new Date(`${day}T00:00:00Z`))
}

export function formatShortDay(day: string): string {
  return shortDayFormat.format(new Date(`${day}T00:00:00Z`))
}

const monthFormat = new Intl.DateTimeFormat(locale(), { month: 'short', timeZone: 'UTC' })

/** A month, and in January its year. */
export function formatMonth(day: string): string {
  return day.slice(5, 7) === '01' ? day.slice(0, 4) : monthFormat.format(new Date(day))
}

/** What stands before the decimals in the reader's locale. */
export function decimalPoint(): string {
  const parts = formatOf('decimals', { minimumFractionDigits: 1 }).formatToParts(0.5)
  return parts.find(({ type }) => type === 'decimal')?.value ?? '.'
}

/** Where decimals have a comma, it cannot stand between columns; Windows has a semicolon in Switzerland too. */
export function listSeparator(): ';' | ',' {
  const { region = '' } = new Intl.Locale(locale()).maximize()
  return decimalPoint() === ',' || region === 'CH' || region === 'LI' ? ';' : ','
}

/** The symbol of a currency, as amounts have it; its code if it has none. */
export function currencySymbol(currency: string): string {
  if (!/^[A-Z]{3}$/u.test(currency)) return currency
  const parts = formatOf(`symbol ${currency}`, { style: 'currency', currency }).formatToParts(0)
  return parts.find(({ type }) => type === 'currency')?.value ?? currency
}

/** In the reader's time zone. */
export function formatInstant(text: string | null | undefined): string {
  if (text === null || text === undefined || Number.isNaN(Date.parse(text))) return nothing
  return instantFormat.format(new Date(text))
}

/** In the zone of a market; in the reader's own where it is not known. */
export function formatZonedInstant(text: string, timeZone: string | undefined): string {
  if (timeZone === undefined) return formatInstant(text)
  const options = { dateStyle: 'medium', timeStyle: 'medium', timeZone } as const
  return new Intl.DateTimeFormat(locale(), options).format(new Date(text))
}

export function formatRange(startDate: string, endDate: string): string {
  const [start, end] = [new Date(`${startDate}T00:00:00Z`), new Date(`${endDate}T00:00:00Z`)]
  return dayFormat.formatRange(start, end)
}

/** `A, B and C`. */
export function formatList(names: readonly string[]): string {
  return new Intl.ListFormat(locale(), { type: 'conjunction' }).format(names)
}

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const

export function formatBytes(bytes: number): string {
  const power = Math.min(units.length - 1, bytes < 1 ? 0 : Math.floor(Math.log2(bytes) / 10))
  return `${formatNumber(bytes / 1024 ** power, power === 0 ? 0 : 1)} ${units[power] ?? 'B'}`
}

export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${formatNumber(ms)} ms`
  if (ms < 120_000) return `${formatNumber(ms / 1_000, 1)} s`
  if (ms < 7_200_000) return `${formatNumber(ms / 60_000)} min`
  return `${formatNumber(ms / 3_600_000, 1)} h`
}
