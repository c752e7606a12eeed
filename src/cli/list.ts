// Commands that print a list from the server. Their options, checks and columns follow from the contract's
// schemas, which say what can be asked for and what a row holds.

import type { Type, TObject, TSchema } from 'typebox'
import type { Immutable } from '../contract/fields.ts'
import { compileParser } from '../contract/validate.ts'
import { usageError, type Command, type CommandContext } from './command.ts'

type Page<Schema extends TSchema> = Immutable<Type.Static<Schema>>

interface ListSpec<Schema extends TObject> {
  readonly name: string
  readonly summary: string
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

export function listCommand<Schema extends TObject>(spec: ListSpec<Schema>): Command {
  const { name, summary, path, query, answer, empty, notes } = spec
  const parameters = Object.keys(query?.properties ?? {})
  const readQuery = query === undefined ? null : createQueryReader(query)
  return {
    name,
    usage: usageOf(query),
    summary,
    options: Object.fromEntries(parameters.map((one) => [optionOf(one), { type: 'string' }])),
    run: async (context) => {
      const asked = readQuery?.(context) ?? ''
      const page = await context.call(answer, { method: 'GET', path: path + asked })
      const rows = rowsOf(page, spec.rows)
      const text = typeof empty === 'string' ? empty : empty(page)
      const table = rows.length === 0 ? text : printRows(rows, spec.columns ?? columnsOf(spec))
      context.print(page, [table, ...(notes?.(page) ?? []), ...cursorOf(page)].join('\n'))
      return 0
    },
  }
}

/** Options where the API has longer words. */
const shortOptions: Readonly<Record<string, string>> = { startDate: 'from', endDate: 'to' }

function optionOf(parameter: string): string {
  return (
    shortOptions[parameter] ??
    parameter.replaceAll(/[A-Z]/gu, (letter) => `-${letter.toLowerCase()}`)
  )
}

function usageOf(query: TObject | undefined): string {
  const required = new Set<string>(query?.required ?? [])
  return Object.keys(query?.properties ?? {})
    .map((parameter) => {
      const option = `--${optionOf(parameter)} ${optionOf(parameter).toUpperCase()}`
      return required.has(parameter) ? option : `[${option}]`
    })
    .join(' ')
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

export function printRows(rows: readonly Row[], columns: readonly string[]): string {
  return formatTable(
    columns.map(titleOf),
    rows.map((row) => columns.map((column) => cellOf(row[column])))
  )
}

/** A list of objects is shown as its length; `--json` prints all of it. */
function cellOf(value: unknown): string {
  if (Array.isArray(value)) {
    if (value.length === 0) return 'none'
    return value.every((item) => typeof item !== 'object') ? value.join(',') : String(value.length)
  }
  if (value === undefined || value === null) return '-'
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function cursorOf(page: object): readonly string[] {
  const next: unknown = Reflect.get(page, 'next')
  return typeof next === 'string' ? [`More: --after ${next}`] : []
}

/** The note of a list that is cut. */
export function shownOf(shown: number, total: number): readonly string[] {
  return total > shown ? [`${shown} of ${total} are shown.`] : []
}

/** Aligned rows under a header. Cells can neither break the layout nor control the terminal. */
export function formatTable(
  header: readonly string[],
  rows: readonly (readonly string[])[]
): string {
  const lines = [header, ...rows].map((cells) => cells.map(printable))
  const widths = header.map((_, column) =>
    Math.max(...lines.map((cells) => cells[column]?.length ?? 0))
  )
  return lines
    .map((cells) =>
      cells
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd()
    )
    .join('\n')
}

/** Replaces control and format characters, such as escape sequences and changes of direction, by a mark. */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\uFFFD')
}
