// Messages about faults: a JSON pointer to the place, then the rule. They never repeat the offending value,
// which may be personal or hostile.
import type { ErrorObject } from 'ajv'
import type { TSchema } from 'typebox'
import { isText } from '../domain/text.ts'
import { printable, unknownRule } from '../lib/unknown-fields.ts'
import { int32Bounds } from './fields.ts'

const formatWords: Readonly<Record<string, string>> = {
  date: 'a date such as 2026-03-01',
  'date-time': 'an instant such as 2026-03-01T00:00:00Z',
  uuid: 'a UUID',
}

const textWords = 'text without lone surrogates or U+0000'

/** Null for faults inside one branch of a union: the union itself says what it takes. */
export function messageOf(error: ErrorObject): string | null {
  if (error.schemaPath.includes('/anyOf/')) return null
  const path = error.instancePath === '' ? 'body' : error.instancePath
  if (error.keyword === 'required') {
    return `${error.instancePath}/${paramText(error, 'missingProperty')} is required`
  }
  if (error.keyword === 'additionalProperties') {
    const name = paramText(error, 'additionalProperty')
    const known = Object.keys(error.parentSchema?.['properties'] ?? {})
    return `${error.instancePath}/${printable(name)} ${unknownRule(name, known)}`
  }
  return `${path} ${ruleOf(error)}`
}

function ruleOf(error: ErrorObject): string {
  switch (error.keyword) {
    case 'type':
      return typeRule(error)
    case 'enum':
      return enumRule(error)
    case 'isText':
      return `must be ${textWords}`
    case 'uniqueItems':
      return 'must have each item once'
    case 'maxLength':
      return `must have at most ${counted(error, 'character')}`
    case 'minLength':
      return `must have at least ${counted(error, 'character')}`
    case 'maxItems':
      return `must have at most ${counted(error, 'item')}`
    case 'minItems':
      return `must have at least ${counted(error, 'item')}`
    case 'maximum':
      return `must be at most ${String(error.schema)}`
    case 'minimum':
      return `must be at least ${String(error.schema)}`
    case 'format':
      return `must be ${formatWords[String(error.schema)] ?? 'in the documented form'}`
    case 'anyOf':
      return `must be ${titleOf(error) ?? branchWords(error.schema) ?? 'in the documented form'}`
    case 'pattern':
      return `must be ${titleOf(error) ?? 'in the documented form'}`
    default:
      return error.message ?? 'is not valid'
  }
}

/** What each branch of a union takes; null if one of them cannot be told in a few words. */
function branchWords(branches: unknown): string | null {
  const words = Array.isArray(branches) ? branches.map(wordsOf) : []
  return words.length === 0 || words.includes(null) ? null : words.join(', or ')
}

function wordsOf(branch: Readonly<Record<string, unknown>>): string | null {
  const { type, title, format } = branch
  if (type === 'null') return 'null'
  if (type === 'boolean') return 'true or false'
  // The title of an object names its schema.
  if (type !== 'string') return null
  return typeof title === 'string' ? title : (formatWords[String(format)] ?? null)
}

function typeRule(error: ErrorObject): string {
  // JSON.parse turns 1e999 into Infinity, and "must be number" would leave its sender at a loss.
  if (typeof error.data === 'number' && !Number.isFinite(error.data))
    return 'must be a finite number'
  if (error.parentSchema !== undefined && 'enum' in error.parentSchema) return enumRule(error)
  return `must be ${String(error.schema)}`
}

function enumRule(error: ErrorObject): string {
  const words: unknown = error.parentSchema?.['enum']
  return `must be one of: ${Array.isArray(words) ? words.join(', ') : ''}`
}

function counted(error: ErrorObject, unit: string): string {
  const limit = String(error.schema)
  return `${limit} ${unit}${limit === '1' ? '' : 's'}`
}

function titleOf(error: ErrorObject): string | null {
  const title: unknown = error.parentSchema?.['title']
  return typeof title === 'string' ? title : null
}

function paramText(error: ErrorObject, name: string): string {
  const value: unknown = error.params[name]
  return typeof value === 'string' ? value : ''
}

/** The whole rule of a parameter: its text can break it in more ways than a value of its type. */
export function parameterRule(schema: TSchema, text: string): string {
  const rule: Readonly<Record<string, unknown>> = { ...schema }
  const { type, title, minimum, maximum, minLength = 0, maxLength } = rule
  const words = formatWords[String(rule['format'])]
  if (typeof title === 'string') return title
  if (Array.isArray(rule['enum'])) return `one of: ${rule['enum'].join(', ')}`
  if (type === 'boolean') return 'true or false'
  if (type === 'integer') {
    const isBounded = minimum !== int32Bounds.minimum || maximum !== int32Bounds.maximum
    return isBounded
      ? `an integer from ${String(minimum)} to ${String(maximum)}`
      : 'an integer of 32 bits'
  }
  if (words === undefined && !isText(text)) return textWords
  return words ?? `text of ${String(minLength)} to ${String(maxLength)} characters`
}
