// Between the gate and a handler: parameters and body are checked by the contract of the operation, so
// that a handler begins with typed values and never sees a request that breaks a rule.
import type { Readable } from 'node:stream'
import { Type, type TObject } from 'typebox'
import type { AccessKey } from '../access/key.ts'
import type { CatalogStore } from '../catalog/catalog-store.ts'
import type { AdvertiserEntry } from '../contract/catalog-bundle.ts'
import type { Of } from '../contract/fields.ts'
import { parseJsonBody } from '../contract/json.ts'
import { refusesUnknownParameters } from '../contract/operation.ts'
import type { JsonBody, Operation, RequestBody, StreamBody } from '../contract/operation.ts'
import { compileParameters, unknownParameterFaults } from '../contract/parameters.ts'
import type { Parsed } from '../contract/validate.ts'
import { refuse, type Answer, type Call, type HandlerTable } from '../http/handler.ts'
import { assert } from '../lib/assert.ts'

type BodyOf<Body> =
  Body extends JsonBody<infer Value> ? Value : Body extends StreamBody ? Readable : null

/** One call of an operation that asks for a key. */
export interface CheckedCall<Path extends TObject, Query extends TObject, Body> {
  readonly key: AccessKey
  readonly path: Of<Path>
  readonly query: Of<Query>
  /** The parsed body; of a stream, the bytes as they come in. */
  readonly body: BodyOf<Body>
  /** Aborted when the caller has gone before the answer was whole. */
  readonly signal: AbortSignal
  readonly sourceAddress: string | null
}

type MaybeLater<Value> = Value | Promise<Value>

/** Something that a path may name. */
export interface Place<Path, Found> {
  /** Null or undefined: there is no such thing. */
  find(path: Path): MaybeLater<Found | null | undefined>
  /** The message of the 404, which comes before any 422. */
  readonly notFound: string
}

type Run<Path extends TObject, Query extends TObject, Body, Found> = (
  call: CheckedCall<Path, Query, Body>,
  found: Found
) => Promise<Answer>

/** The handler of an operation under its id. */
export function handle<
  Path extends TObject,
  Query extends TObject,
  Body extends RequestBody | null,
>(
  operation: Operation<Path, Query, Body>,
  run: (call: CheckedCall<Path, Query, Body>) => Promise<Answer>
): HandlerTable {
  return handleAt(operation, anywhere, run)
}

const anywhere: Place<unknown, true> = { find: () => true, notFound: 'There is nothing here.' }

/** The handler of an operation whose path names something that has to exist. */
export function handleAt<
  Path extends TObject,
  Query extends TObject,
  Body extends RequestBody | null,
  Found,
>(
  operation: Operation<Path, Query, Body>,
  place: Place<Of<Path>, Found>,
  run: Run<Path, Query, Body, Found>
): HandlerTable {
  const { operationId, pathParameters, queryParameters } = operation
  const parsePath = compileParameters(parametersOf(pathParameters))
  const querySchema = parametersOf(queryParameters)
  const parseQuery = compileParameters(querySchema, (given) => operation.queryFaults?.(given) ?? [])
  const unknownFaults = (query: URLSearchParams) =>
    refusesUnknownParameters(operation) ? unknownParameterFaults(querySchema, query.keys()) : []
  return {
    [operationId]: async (call) => {
      const path = parsePath((name) => [call.pathParameters[name] ?? ''])
      const found = path.ok ? await place.find(path.value) : null
      if (!path.ok || found === null || found === undefined)
        return refuse('RESOURCE_UNKNOWN', [place.notFound])

      const query = parseQuery((name) => call.query.getAll(name))
      const body = readBody(operation.body, call)
      const unknown = unknownFaults(call.query)
      if (!query.ok || !body.ok || unknown.length > 0)
        return refuse('REQUEST_INVALID', [...faultsOf(query), ...unknown, ...faultsOf(body)])
      const { key, signal, sourceAddress } = call
      assert(key !== null, `${operationId} is called with a key`)
      const parameters = { path: path.value, query: query.value }
      const checked = { key, signal, sourceAddress, ...parameters, body: body.value }
      return await run(checked, found)
    },
  }
}

function parametersOf<Parameters extends TObject>(schema: Parameters | undefined): Parameters {
  // An operation without a schema has the type of one without parameters.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return schema ?? (Type.Object({}) as unknown as Parameters)
}

function readBody<Body extends RequestBody | null>(
  expected: Body,
  { body, stream, contentEncoding }: Call
): Parsed<BodyOf<Body>> {
  // The three cases of `BodyOf`, which the compiler cannot follow.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const taken = (value: unknown) => ({ ok: true, value: value as BodyOf<Body> }) as const
  if (expected === null) return taken(null)
  if (!isPlain(contentEncoding)) return { ok: false, messages: [encoded] }
  if (expected.isStream) return taken(stream)
  const json = parseJsonBody(body)
  const parsed = json.ok ? expected.parse(json.value) : json
  return parsed.ok ? taken(parsed.value) : parsed
}

const encoded = 'content-encoding must be identity: the body is to be sent unpacked'

function isPlain(contentEncoding: string | null): boolean {
  const coding = contentEncoding?.trim().toLowerCase() ?? ''
  return coding === '' || coding === 'identity'
}

function faultsOf(parsed: Parsed<unknown>): readonly string[] {
  return parsed.ok ? [] : parsed.messages
}

/** The advertiser that the path names, active or not. */
export function advertiserIn(
  catalog: Pick<CatalogStore, 'current'>
): Place<{ readonly advertiserId: number }, AdvertiserEntry> {
  return {
    find: ({ advertiserId }) => catalog.current().advertisers.get(advertiserId),
    notFound: 'There is no such advertiser.',
  }
}

/**
 * A page of a list, from one entry more than was asked for: the last one tells that there are others.
 * `next` names the last entry that is shown.
 */
export function cutPage<Entry>(
  found: readonly Entry[],
  limit: number,
  nextOf: (last: Entry) => string
): { readonly shown: readonly Entry[]; readonly next: { readonly next?: string } } {
  const shown = found.slice(0, limit)
  const last = shown.at(-1)
  const hasMore = found.length > shown.length && last !== undefined
  return { shown, next: hasMore ? { next: nextOf(last) } : {} }
}
