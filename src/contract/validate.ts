// Compiles a schema of the contract into a check that costs almost nothing for a valid value and tells the
// sender of an invalid one what to correct. The check is strict: "2" is not 2, a single object is not a
// list, and nothing is filled in or taken away.
import { Ajv, _, type ErrorObject, type KeywordCxt, type Options, type ValidateFunction } from 'ajv'
import type { Type, TSchema } from 'typebox'
import { parseDay } from '../domain/day.ts'
import { parseInstant } from '../domain/instant.ts'
import { countCodePoints, isText } from '../domain/text.ts'
import type { Immutable } from './fields.ts'
import { messageOf } from './validation-message.ts'

export interface CompileOptions {
  /** Limit of the messages. Default 20. */
  readonly messagesMax?: number
  /**
   * Values with more nodes (objects, lists, scalars) than this get only their first fault, because
   * collecting takes memory for every fault: a 1 MiB body can hold half a million. Default 2000.
   */
  readonly collectNodesMax?: number
  /** Compiled at once, for trackers. Others are compiled for the first value: all together took a quarter of a start. */
  readonly isEager?: boolean
}

/** Empty means valid. */
export type Validate = (value: unknown) => readonly string[]

export type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly messages: readonly string[] }

const defaultMessagesMax = 20
const defaultCollectNodesMax = 2_000

const valid: readonly string[] = []

/**
 * Lengths count Unicode code points; numbers must be finite; text must hold neither lone surrogates
 * nor U+0000, because the warehouse refuses a whole batch for one of them.
 */
export function compile(schema: TSchema, options: CompileOptions = {}): Validate {
  const checked = withTextRule(schema)
  let isValid = options.isEager === true ? firstFault.compile(checked) : undefined
  const messagesMax = options.messagesMax ?? defaultMessagesMax
  const nodesMax = options.collectNodesMax ?? defaultCollectNodesMax
  let collect: ValidateFunction | undefined // Compiled for the first invalid value; most schemas never see one.

  return (value) => {
    isValid ??= firstFault.compile(checked)
    if (isValid(value)) return valid
    if (!hasAtMostNodes(value, nodesMax)) return messagesOf(isValid, messagesMax)

    isValid.errors = null
    collect ??= allFaults.compile(checked)
    collect(value)
    return messagesOf(collect, messagesMax)
  }
}

/** `compile`, with the type that the schema describes. The value is passed on as it is, not copied. */
export function compileParser<T extends TSchema>(schema: T, options: CompileOptions = {}) {
  type Body = Immutable<Type.Static<T>>
  const validate = compile(schema, options)
  let messages: readonly string[] = valid
  // A type guard instead of a cast: a value without faults has the type that its schema describes.
  const isBody = (value: unknown): value is Body => {
    messages = validate(value)
    return messages.length === 0
  }

  return (value: unknown): Parsed<Body> =>
    isBody(value) ? { ok: true, value } : { ok: false, messages }
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

function createAjv(options: Pick<Options, 'allErrors'>): Ajv {
  const ajv = new Ajv({
    ...options,
    // Puts value and schema into errors, which messages need; a valid value never pays for it.
    verbose: true,
    // The schemas are our own. Compiling the schema of schemas took most of a tracker's compiling.
    meta: false,
    validateSchema: false,
    // Where Node may not make code from text, compiling throws; Ajv would print all that it made before, 15 kB.
    logger: false,
  })
  ajv.addFormat('int32', true) // The bounds beside it do the work.
  ajv.addFormat('double', true)
  ajv.addFormat('uri', true) // Whether an address is fit for its purpose is for the domain to say.
  ajv.addFormat('date', (text) => parseDay(text) !== null)
  ajv.addFormat('date-time', (text) => parseInstant(text) !== null)
  ajv.addFormat('uuid', uuid)
  ajv.addKeyword({ keyword: 'isText', type: 'string', schemaType: 'boolean', code: checkText })
  for (const keyword of ['maxLength', 'minLength'] as const) {
    ajv.removeKeyword(keyword)
    ajv.addKeyword({ keyword, type: 'string', schemaType: 'number', code: checkLength[keyword] })
  }
  return ajv
}

function checkText(cxt: KeywordCxt): void {
  const text = cxt.gen.scopeValue('func', { ref: isText })
  cxt.fail(_`!${text}(${cxt.data})`)
}

// A text has at most as many code points as UTF-16 units and at least half as many, so the units decide
// nearly always. Ajv's own keyword walks every text: 110 of the 136 ns it takes for two products.
const checkLength = {
  maxLength(cxt: KeywordCxt): void {
    const count = cxt.gen.scopeValue('func', { ref: countCodePoints })
    const { data, schema } = cxt
    const units = _`${data}.length`
    cxt.fail(_`${units} > ${schema} && (${units} > ${schema * 2} || ${count}(${data}) > ${schema})`)
  },
  minLength(cxt: KeywordCxt): void {
    const count = cxt.gen.scopeValue('func', { ref: countCodePoints })
    const { data, schema } = cxt
    const units = _`${data}.length`
    cxt.fail(_`${units} < ${schema * 2} && ${count}(${data}) < ${schema}`)
  },
}

// Sharing them is safe: no schema has an id, and each is compiled once.
const firstFault = createAjv({ allErrors: false })
const allFaults = createAjv({ allErrors: true })

/** Marks every free text of the schema for `checkText`; the published schema stays standard. */
function withTextRule(schema: object): object {
  const entries = Object.entries(schema).map(([key, value]: [string, unknown]) => [
    key,
    mapNested(value),
  ])
  const copy: Record<string, unknown> = Object.fromEntries(entries)
  const isFreeText = copy['type'] === 'string' && !('enum' in copy) && !('const' in copy)
  return isFreeText ? { ...copy, isText: true } : copy
}

function mapNested(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(mapNested)
  return typeof value === 'object' && value !== null ? withTextRule(value) : value
}

function messagesOf(validate: ValidateFunction, messagesMax: number): readonly string[] {
  const errors: readonly ErrorObject[] = validate.errors ?? []
  // Errors hold the offending values, which must not outlive their request.
  validate.errors = null
  const messages = new Set<string>()
  for (const error of errors) {
    const message = messageOf(error)
    if (message !== null) messages.add(message)
    if (messages.size === messagesMax) break
  }
  return [...messages]
}

/** Stops counting once the answer is known, so that the largest body costs no more than the bound. */
function hasAtMostNodes(value: unknown, nodesMax: number): boolean {
  const open: unknown[] = [value]
  let count = 1
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (typeof node !== 'object' || node === null) continue
    for (const child of childrenOf(node)) {
      count += 1
      if (count > nodesMax) return false
      open.push(child)
    }
  }
  return true
}

function* childrenOf(node: object): Generator {
  if (Array.isArray(node)) yield* node
  else for (const key in node) yield Reflect.get(node, key)
}
