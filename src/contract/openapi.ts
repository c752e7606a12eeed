// The OpenAPI 3.1 document, made from the table of operations and the schemas that validate requests. There
// is no second description that could drift from what the service does.
import type { TObject, TSchema } from 'typebox'
import { examples } from './examples/examples.ts'
import type { Example } from './examples/example.ts'
import { refusalExamples } from './examples/refusals.ts'
import { operations } from './operations.ts'
import type { Access, Operation, Port, RequestBody } from './operation.ts'
import { sharedHeaders, type HeaderDescription, type OperationResponse } from './responses.ts'

export interface OpenApiOptions {
  readonly trackingUrl: string
  readonly campaignUrl: string
  readonly version: string
}

type Json = Readonly<Record<string, unknown>>

export interface OpenApiDocument {
  readonly openapi: string
  readonly info: Json
  readonly servers: readonly Json[]
  readonly tags: readonly Json[]
  /** By path, then by method. */
  readonly paths: Readonly<Record<string, Readonly<Record<string, Json>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, Json>>
    readonly headers: Readonly<Record<string, HeaderDescription>>
    readonly examples: Readonly<Record<string, Json>>
    readonly securitySchemes: Json
  }
}

const additionTag = 'Additions'

const tags = [
  { name: 'Tracking', description: 'Events from publishers. Public, on the tracking port.' },
  { name: 'Campaign', description: 'For advertisers, with a key, on the campaign port.' },
  { name: 'Admin', description: 'For the platform, with a key, on the campaign port.' },
  { name: 'Operator', description: 'Health, metrics and this document.' },
  { name: additionTag, description: 'Operations beyond the five of the interface.' },
]

const bearer = {
  type: 'http',
  scheme: 'bearer',
  description: 'A key that the platform hands out: Authorization: Bearer st_…',
}

export function buildOpenApi(options: OpenApiOptions): OpenApiDocument {
  const urls = { tracking: options.trackingUrl, campaign: options.campaignUrl }
  const components = new Components()
  const paths: Record<string, Record<string, Json>> = {}
  for (const operation of operations) {
    const item = (paths[operation.path] ??= {})
    item[operation.method] = describeOperation(operation, urls, components)
  }

  return {
    openapi: '3.1.0',
    info: {
      title: 'Shelftrace',
      version: options.version,
      description:
        'Tracking, attribution and reporting for retail-media platforms. Two ports: each operation names ' +
        'the server it is found at. Operations with x-addition go beyond the published interface.',
      contact: { name: 'The platform that runs this installation' },
      license: { name: 'Apache 2.0', identifier: 'Apache-2.0' },
    },
    servers: [
      { url: urls.tracking, description: 'Tracking port' },
      { url: urls.campaign, description: 'Campaign port' },
    ],
    tags,
    paths,
    components: {
      schemas: components.schemas,
      headers: { ...sharedHeaders },
      examples: Object.fromEntries(
        Object.entries(refusalExamples).map(([code, text]) => [
          code,
          { value: { messages: [text] } },
        ])
      ),
      securitySchemes: { bearer },
    },
  }
}

function describeOperation(
  operation: Operation,
  urls: Readonly<Record<Port, string>>,
  components: Components
): Json {
  const { access, addition, body } = operation
  const example = examples[operation.operationId] ?? {}
  const { pathParameters: path, queryParameters: query, headerParameters: header } = operation
  const parameters = [
    ...describeParameters({ place: 'path', schema: path, given: example.path }, components),
    ...describeParameters({ place: 'query', schema: query, given: example.query }, components),
    ...describeParameters({ place: 'header', schema: header, given: {} }, components),
  ]
  return {
    operationId: operation.operationId,
    summary: operation.summary,
    description: `${operation.description}${access === null ? '' : scopeNote(access)}`,
    tags: addition ? [operation.tag, additionTag] : [operation.tag],
    servers: operation.ports.map((port) => ({ url: urls[port] })),
    security: access === null ? [] : [{ bearer: [] }],
    ...(access !== null && { 'x-scopes': scopesOf(access) }),
    ...(parameters.length > 0 && { parameters }),
    ...(body !== null && { requestBody: describeBody(body, example, components) }),
    responses: Object.fromEntries(
      operation.responses.map((response) => [
        response.status,
        {
          ...describeResponse(response, example, components),
          ...additionMark(operation, response),
        },
      ])
    ),
    ...(addition && { 'x-addition': true }),
    ...(operation.isBackendOnly === true && { 'x-backend-only': true }),
  }
}

/** Each of these is enough, and so is `admin`. */
function scopesOf({ scope, otherScopes = [] }: Access): readonly string[] {
  return [scope, ...otherScopes]
}

function scopeNote(access: Access): string {
  const [scope, ...others] = scopesOf(access)
  const words = others.length === 0 ? `the scope \`${scope}\`` : 'any of the scopes `x-scopes`'
  return ` Needs a key with ${words}.`
}

interface Parameters {
  readonly place: 'path' | 'query' | 'header'
  readonly schema: TObject | undefined
  /** The examples, by name. */
  readonly given: Example['query']
}

function describeParameters(
  { place, schema: all, given = {} }: Parameters,
  components: Components
): readonly Json[] {
  if (all === undefined) return []
  const required: readonly string[] = all.required ?? []
  return Object.entries(all.properties).map(([name, schema]) => {
    const example = name in given ? { example: given[name] } : {}
    const parameter = { name, in: place, required: required.includes(name) }
    return Object.assign(parameter, { schema: components.describe(schema) }, example)
  })
}

function describeBody(body: RequestBody, { body: example }: Example, components: Components): Json {
  const { mediaType, schema, isStream } = body
  const described = isStream
    ? describeLines(mediaType, schema, components)
    : components.describe(schema)
  return {
    required: true,
    content: { [mediaType]: { schema: described, ...(example !== undefined && { example }) } },
  }
}

/** The whole stream is text; JSON Schema describes what the text holds beside it. */
function describeLines(mediaType: string, schema: TSchema, components: Components): unknown {
  if (Reflect.get(schema, 'type') === 'string') return components.describe(schema)
  return {
    type: 'string',
    description: 'One record a line; the content schema is that of one line.',
    contentMediaType: mediaType,
    contentSchema: components.describe(schema),
  }
}

function describeResponse(
  response: OperationResponse,
  { answers = {} }: Example,
  components: Components
): Json {
  const { status, content, headers, description, codes } = response
  const example = answers[status]
  return {
    description,
    ...(headers !== undefined && { headers: describeHeaders(headers) }),
    ...(content !== null && {
      content: {
        [content.mediaType]: {
          schema: content.mediaType.endsWith('x-ndjson')
            ? describeLines(content.mediaType, content.schema, components)
            : components.describe(content.schema),
          ...(example !== undefined && { example }),
          ...(codes !== undefined && { examples: examplesOf(codes) }),
        },
      },
    }),
  }
}

function examplesOf(codes: readonly string[]): Json {
  return Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]))
}

/** Of an answer that the interface does not name for its operation. */
function additionMark({ interfaceStatuses }: Operation, { status }: OperationResponse): Json {
  const isNamed = interfaceStatuses === undefined || interfaceStatuses.includes(status)
  return isNamed ? {} : { 'x-addition': true }
}

const sharedNames = new Map<HeaderDescription, string>(
  Object.entries(sharedHeaders).map(([name, one]) => [one, name])
)

function describeHeaders(headers: NonNullable<OperationResponse['headers']>): Json {
  return Object.fromEntries(
    Object.entries(headers).map(([name, one]) => {
      const shared = sharedNames.get(one)
      return [name, shared === undefined ? one : { $ref: `#/components/headers/${shared}` }]
    })
  )
}

/** Collects the objects that have a title under `components`, and leaves references in their place. */
class Components {
  readonly schemas: Record<string, Json> = {}

  describe(schema: unknown): unknown {
    if (Array.isArray(schema)) return schema.map((element) => this.describe(element))
    if (!isObject(schema)) return schema
    const title = schema['title']
    // Titles of texts and unions are words for messages, not names.
    if (schema['type'] !== 'object' || typeof title !== 'string') return this.#describeParts(schema)

    this.schemas[title] ??= this.#describeParts(schema)
    return { $ref: `#/components/schemas/${title}` }
  }

  #describeParts(schema: Json): Json {
    return Object.fromEntries(
      Object.entries(schema).map(([key, value]) => [key, this.describe(value)])
    )
  }
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null
}
