// What a handler of an operation sees and gives back. Both ends are plain values, so that no handler
// depends on the HTTP framework, and every answer leaves through one door.
import type { Readable } from 'node:stream'
import type { AccessKey } from '../access/key.ts'

/** One authorized call. Nothing of the path, the query and the body is checked yet. */
export interface Call {
  /** Null for public operations only. */
  readonly key: AccessKey | null
  readonly pathParameters: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  /** The whole body; empty for operations without one and for streams. */
  readonly body: Buffer
  /** The body as it comes in, for operations that stream; null for all others. */
  readonly stream: Readable | null
  /** Aborted when the caller has gone before the answer was whole. */
  readonly signal: AbortSignal
}

/** Bytes that never change while the process runs; callers that have them are told so instead. */
export interface StaticFile {
  readonly plain: Buffer
  /** Null: compressing it gains nothing. */
  readonly gzip: Buffer | null
  /** Of the content, whatever its encoding. */
  readonly hash: string
  /** Its path names this content and never another. No when absent. */
  readonly isImmutable?: boolean
}

/** Whole, so that nothing can fail once the first byte has left, and sent with its length. */
type AnswerBody =
  { readonly json: unknown } | { readonly text: string | Buffer } | { readonly file: StaticFile }

export interface Answer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  /** Null: no body. */
  readonly body: AnswerBody | null
}

export type Handler = (call: Call) => Promise<Answer>

/** By operation id of the contract. */
export type HandlerTable = Readonly<Record<string, Handler>>

export function answerJson(status: number, json: unknown): Answer {
  return { status, body: { json } }
}

/** The one shape of every refusal; messages never repeat what came in. */
export function refuse(status: number, messages: readonly string[]): Answer {
  return answerJson(status, { messages })
}
