// Values for the placeholders of a statement in process. chDB runs statements that are bound by a call of its own one
// after the other in the whole process, because that call sets and resets what all its callers share. Parameters that
// are set in a session belong to the session, so statements of different sessions run at the same time.

import { ServiceError } from '../errors.ts'
import type { Params, ParamValue } from './warehouse.ts'

/**
 * The statement behind one that sets its parameters. The text of the statement stays as it is: values are parameters
 * of ClickHouse, each sent as one string literal.
 */
export function withParams(sql: string, params: Params): string {
  assertBound(sql, params)
  const settings = Object.entries(params).map(
    ([name, value]) => `param_${name} = ${quote(printed(value))}`
  )
  return settings.length === 0 ? sql : `SET ${settings.join(', ')};\n${sql}`
}

/**
 * A session keeps parameters, so a value that the caller forgot would be that of an earlier statement. This is
 * refused here, before any statement, as ClickHouse refuses it elsewhere.
 */
export function assertBound(sql: string, params: Params): void {
  for (const [, name = ''] of sql.matchAll(placeholders)) {
    if (!Object.hasOwn(params, name)) {
      throw new ServiceError('WAREHOUSE_REFUSED', `the statement needs a value for ${name}`, {
        cause: new Error(`{${name}} is not bound`),
        details: { clickhouseCode: unknownQueryParameter },
      })
    }
  }
}

/** ClickHouse's own code for it. */
const unknownQueryParameter = 456

const placeholders = /\{(\w+):/gu

/** As ClickHouse reads the value of a parameter: a text with escapes, or a literal. */
function printed(value: ParamValue): string {
  if (typeof value === 'string') return escape(value)
  return typeof value === 'object' ? `[${value.map(literal).join(',')}]` : literal(value)
}

function literal(value: string | number | bigint | boolean): string {
  return typeof value === 'string' ? quote(value) : String(value)
}

/** A string literal. Only a quote and a backslash can end one. */
function quote(text: string): string {
  return `'${escape(text).replaceAll("'", String.raw`\'`)}'`
}

function escape(text: string): string {
  return text.replaceAll(special, (character) => escapes[character] ?? character)
}

const special = /[\\\0\b\f\n\r\t]/gu

const escapes: Readonly<Record<string, string>> = {
  '\\': String.raw`\\`,
  '\0': String.raw`\0`,
  '\b': String.raw`\b`,
  '\f': String.raw`\f`,
  '\n': String.raw`\n`,
  '\r': String.raw`\r`,
  '\t': String.raw`\t`,
}
