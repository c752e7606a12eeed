// Traces for OpenTelemetry. What is not traced costs nothing but a toss of a coin: neither a span nor a context exists
// for it. The packages are loaded only where traces are exported.
import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Span, Tracer } from '@opentelemetry/api'
import { ServiceError } from '../errors.ts'

export interface TracingSettings {
  /** The share of requests and steps that are traced, from 0 to 1. */
  readonly ratio: number
  /** Of OTEL_SERVICE_NAME. */
  readonly serviceName: string
}

/** Never an id of a shopper, a token or a key. */
export type Attributes = Readonly<Record<string, string | number | boolean>>

export interface SpanOptions {
  readonly attributes?: Attributes
  /** A `traceparent` from elsewhere that this is part of. */
  readonly parent?: string | undefined
  /** Those of requests that this works for; a batch has many. */
  readonly links?: readonly string[]
  readonly startMs?: number
}

export interface Tracing {
  /** Whether this request or step is one of those that are traced. */
  toss(): boolean
  /** Whether the work under way is traced. */
  isActive(): boolean
  /** The `traceparent` of the work under way; null if it is not traced. */
  current(): string | null
  /** Runs the work in a span of its own, below the one under way. */
  run<Result>(name: string, options: SpanOptions, work: () => Promise<Result>): Promise<Result>
  /** Sends what was not sent yet. */
  close(): Promise<void>
}

/** A collector that is away must not hold up the end of the process. */
const lastSendMsMax = 2_000

/** Null if nothing is to be traced. Throws CONFIG_INVALID if the packages are missing. */
export async function openTracing(
  settings: TracingSettings | null,
  process: 'tracker' | 'engine'
): Promise<Tracing | null> {
  if (settings === null) return null
  const { ratio, serviceName } = settings
  const packages = await loadPackages()
  const { BasicTracerProvider, BatchSpanProcessor, AlwaysOnSampler } = packages.sdk
  const { resourceFromAttributes, detectResources, envDetector } = packages.resources
  const resource = resourceFromAttributes({ 'service.name': serviceName }).merge(
    // OTEL_RESOURCE_ATTRIBUTES
    detectResources({ detectors: [envDetector] })
  )
  const provider = new BasicTracerProvider({
    resource,
    // The coin was tossed before.
    sampler: new AlwaysOnSampler(),
    spanProcessors: [new BatchSpanProcessor(new packages.exporter.OTLPTraceExporter())],
  })
  return new SdkTracing({
    api: packages.api,
    tracer: provider.getTracer(`shelftrace-${process}`),
    ratio,
    close: async () => {
      await Promise.race([provider.shutdown(), sleep(lastSendMsMax, undefined, { ref: false })])
    },
  })
}

async function loadPackages() {
  try {
    return {
      api: await import('@opentelemetry/api'),
      sdk: await import('@opentelemetry/sdk-trace-base'),
      resources: await import('@opentelemetry/resources'),
      exporter: await import('@opentelemetry/exporter-trace-otlp-http'),
    }
  } catch (cause) {
    const message =
      'OTEL_EXPORTER_OTLP_ENDPOINT asks for traces, which need packages that are not installed: npm install --no-save ' +
      '@opentelemetry/api @opentelemetry/sdk-trace-base@2 @opentelemetry/resources@2 ' +
      '@opentelemetry/exporter-trace-otlp-http@0.223'
    throw new ServiceError('CONFIG_INVALID', message, { cause })
  }
}

interface Parts {
  readonly api: typeof import('@opentelemetry/api')
  readonly tracer: Tracer
  readonly ratio: number
  readonly close: () => Promise<void>
}

class SdkTracing implements Tracing {
  readonly #parts: Parts
  readonly #active = new AsyncLocalStorage<Span>()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  toss(): boolean {
    return Math.random() < this.#parts.ratio
  }

  isActive(): boolean {
    return this.#active.getStore() !== undefined
  }

  current(): string | null {
    const span = this.#active.getStore()
    return span === undefined ? null : traceparentOf(span)
  }

  async run<Result>(
    name: string,
    options: SpanOptions,
    work: () => Promise<Result>
  ): Promise<Result> {
    const { api } = this.#parts
    const span = this.#start(name, options)
    try {
      return await this.#active.run(span, work)
    } catch (error) {
      // Messages may quote what was refused.
      const message = error instanceof ServiceError ? error.code : 'UNEXPECTED'
      span.setStatus({ code: api.SpanStatusCode.ERROR, message })
      throw error
    } finally {
      span.end()
    }
  }

  async close(): Promise<void> {
    await this.#parts.close()
  }

  #start(name: string, { attributes = {}, parent, links = [], startMs }: SpanOptions): Span {
    const { api, tracer } = this.#parts
    const above = this.#active.getStore()
    const remote = parent === undefined ? null : parseTraceparent(parent)
    const root = api.ROOT_CONTEXT
    const context =
      above !== undefined
        ? api.trace.setSpan(root, above)
        : remote === null
          ? root
          : api.trace.setSpanContext(root, remote)
    return tracer.startSpan(
      name,
      {
        attributes: { ...attributes },
        links: links.flatMap((link) => {
          const linked = parseTraceparent(link)
          return linked === null ? [] : [{ context: linked }]
        }),
        ...(startMs !== undefined && { startTime: startMs }),
      },
      context
    )
  }
}

function traceparentOf(span: Span): string {
  const { traceId, spanId } = span.spanContext()
  return `00-${traceId}-${spanId}-01`
}

const traceparentForm =
  /^[0-9a-f]{2}-(?<traceId>(?!0{32})[0-9a-f]{32})-(?<spanId>(?!0{16})[0-9a-f]{16})-(?<flags>[0-9a-f]{2})$/u

interface RemoteSpan {
  readonly traceId: string
  readonly spanId: string
  readonly traceFlags: number
  readonly isRemote: true
}

/** Null if it is not a `traceparent` (https://www.w3.org/TR/trace-context/) or its sender does not trace. */
export function parseTraceparent(text: string): RemoteSpan | null {
  const { traceId, spanId, flags } = traceparentForm.exec(text)?.groups ?? {}
  if (traceId === undefined || spanId === undefined) return null
  const traceFlags = Number.parseInt(flags ?? '0', 16) & 1
  return traceFlags === 0 ? null : { traceId, spanId, traceFlags, isRemote: true }
}
