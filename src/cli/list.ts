// Commands that print a list from the server. What can be asked for, the checks and the columns follow from the
// contract's schemas.
import type { Type, TObject, TSchema } from 'typebox'
import type { Immutable } from '../contract/fields.ts'
import { compileParser } from '../contract/validate.ts'
import { usageError, type CommandContext, type Run } from './command.ts'
import type { Layout } from './layout.ts'
import { formatTable } from './table.ts'
import { formatCount } from './words.ts'

type Page<Schema extends TSchema> = Immutable<Type.Static<Schema>>

interface ListSpec<Schema extends TObject> {
  /** Behind `/admin/v1`. */
  readonly path: string
  /** The query parameters; each is an option of the command. */
  readonly query?: TObject
  readonly answer: Schema
  /** The property of the answer that holds the rows. */
  readonly rows: keyof Page<Schema> & string
  /** Properties of a row in the order of the columns. Default: all. `--json` prints all of them. */
  readonly columns?: readonly string[]
  /** Printed instead of a table without rows. */
  readonly empty: string | ((page: Page<Schema>) => string)
  /** Printed below the table. */
  readonly notes?: (page: Page<Schema>) => readonly string[]
}

export function listCommand<Schema extends TObject>(spec: ListSpec<Schema>): Run {
  const { path, query, answer, empty, notes } = spec
  const readQuery = query === undefined ? null : createQueryReader(query)
  return async (context) => {
    const asked = readQuery?.(context) ?? ''
    const page = await context.call(answer, { method: 'GET', path: path + asked })
    const rows = rowsOf(page, spec.rows)
    const text = typeof empty === 'string' ? empty : empty(page)
    const columns = spec.columns ?? columnsOf(spec)
    const table = rows.length === 0 ? text : printRows(rows, columns, context.layout)
    context.print(page, [table, ...(notes?.(page) ?? []), ...cursorOf(page)].join('\n'))
    return 0
  }
}

/** Options where the API has longer words. */
const shortOptions: Readonly<Record<string, string>> = { startDate: 'from', endDate: 'to' }

export function optionOf(parameter: string): string {
  return (
    shortOptions[parameter] ??
    parameter.replaceAll(/[A-Z]/gu, (letter) => `-${letter.toLowerCase()}`)
  )
}

/** The options as a query string. Values that the server would refuse are reported before it is called. */
function createQueryReader(query: TObject): (context: CommandContext) => string {
  const parse = compileParser(query)
  return ({ options }) => {
    const given = Object.entries(query.properties).flatMap(([parameter, schema]) => {
      const text = options[optionOf(parameter)]
      if (typeof text !== 'string') return []
      if (text.trim() === '')
        throw usageError(`--${optionOf(parameter)} must be followed by a value`)
      return [[parameter, text, readValue(schema, text)] as const]
    })
    const parsed = parse(
      Object.fromEntries(given.map(([parameter, , value]) => [parameter, value]))
    )
    if (!parsed.ok) throw usageError(parsed.messages.map(nameOption).join('; '))
    const search = new URLSearchParams(
      Object.fromEntries(given.map(([parameter, text]) => [parameter, text]))
    ).toString()
    return search === '' ? '' : `?${search}`
  }
}

function readValue(schema: TSchema, text: string): string | number {
  return Reflect.get(schema, 'type') === 'integer' && /^-?\d{1,15}$/u.test(text)
    ? Number(text)
    : text
}

/** Names the option that was typed: `/startDate must be…` of the contract becomes `--from must be…`. */
function nameOption(message: string): string {
  return message.replace(/^\/(\w+)/u, (_, parameter: string) => `--${optionOf(parameter)}`)
}

type Row = Readonly<Record<string, unknown>>

function rowsOf(page: object, property: string): readonly Row[] {
  const rows: unknown = Reflect.get(page, property)
  return Array.isArray(rows) ? rows : []
}

function columnsOf({
  answer,
  rows,
}: Pick<ListSpec<TObject>, 'answer' | 'rows'>): readonly string[] {
  const items: unknown = Reflect.get(answer.properties[rows] ?? {}, 'items')
  const properties: unknown =
    typeof items === 'object' && items !== null ? Reflect.get(items, 'properties') : {}
  return Object.keys(Object(properties))
}

/** `firstReceivedAt` stands in the column FIRST RECEIVED AT. */
function titleOf(property: string): string {
  return property.replaceAll(/[A-Z]/gu, (letter) => ` ${letter}`).toUpperCase()
}

export function printRows(
  rows: readonly Row[],
  columns: readonly string[],
  layout: Layout
): string {
  return formatTable(
    columns.map(titleOf),
    rows.map((row) => columns.map((column) => cellOf(row[column]))),
    layout
  )
}

/** A list of objects is shown as its length; `--json` prints all of it. */
function cellOf(value: unknown): string {
  if (Array.isArray(value)) {
    if (value.length === 0) return 'none'
    return value.every((item) => typeof item !== 'object') ? value.join(',') : String(value.length)
  }
  if (value === undefined || value === null) return '-'
  return typeof value === 'string' ? withoutFalseDigits(value) : JSON.stringify(value)
}

/** Columns that hold microseconds end in zeros where the instant was known to the millisecond. */
function withoutFalseDigits(text: string): string {
  return text.replace(/^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3})000Z$/u, '$1Z')
}

function cursorOf(page: object): readonly string[] {
  const next: unknown = Reflect.get(page, 'next')
  return typeof next === 'string' ? [`More: --after ${next}`] : []
}

/** The note of a list that is cut. */
export function shownOf(shown: number, total: number): readonly string[] {
  return total > shown ? [`${formatCount(shown)} of ${formatCount(total)} are shown.`] : []
}
