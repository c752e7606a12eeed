// ClickHouse's messages quote rows and values, which must not get into logs and reasons.

/** Faults of a statement, whose messages name columns, functions and types. */
const aboutStatement: ReadonlySet<number> = new Set([
  16, // NO_SUCH_COLUMN_IN_TABLE
  42, // NUMBER_OF_ARGUMENTS_DOESNT_MATCH
  43, // ILLEGAL_TYPE_OF_ARGUMENT
  46, // UNKNOWN_FUNCTION
  47, // UNKNOWN_IDENTIFIER
  48, // NOT_IMPLEMENTED
  53, // TYPE_MISMATCH
  62, // SYNTAX_ERROR
  115, // UNKNOWN_SETTING
  215, // NOT_AN_AGGREGATE
  386, // NO_COMMON_TYPE
  452, // SETTING_CONSTRAINT_VIOLATION
  456, // UNKNOWN_QUERY_PARAMETER
])

const detailLengthMax = 300

/** Keeps ClickHouse's code and its name and, for a fault of the statement, the message without values. */
export function withoutValues(code: number, cause: unknown): Error {
  const text = cause instanceof Error ? cause.message : ''
  const detail = aboutStatement.has(code) ? ` ${describe(text)}` : ''
  return new Error(`Code: ${code}. DB::Exception:${detail} (${nameOf(cause, text)})`)
}

/** The client removes the name from the text. */
function nameOf(cause: unknown, text: string): string {
  const type: unknown = cause instanceof Error ? Reflect.get(cause, 'type') : null
  const found = typeof type === 'string' ? type : [...text.matchAll(/\((\w+)\)/gu)].at(-1)?.[1]
  return found !== undefined && /^[A-Z][A-Z0-9_]+$/u.test(found) ? found : 'UNKNOWN'
}

/** The message up to where it quotes the statement, which contains values. */
function describe(text: string): string {
  const [, message = text] = /DB::Exception: (.*)/su.exec(text) ?? []
  const [start = ''] = message.split(/\n|\bin scope\b|\bwhile processing\b|: While\b/iu)
  return start
    .replaceAll(/'[^']*'/gu, "'…'")
    .slice(0, detailLengthMax)
    .trim()
}
