// The input and the output of a handler. Both are plain values, so that no handler depends on the HTTP
// framework, and all answers are sent in one place.
import type { Readable } from 'node:stream'
import type { AccessKey } from '../access/key.ts'
import { refusalKinds, type RefusalCode } from '../contract/refusal-codes.ts'
import type { StaticFile } from './static-file.ts'

/** One authorized call. Path, query and body are not checked yet. */
export interface Call {
  /** Null for public operations only. */
  readonly key: AccessKey | null
  readonly pathParameters: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  /** The whole body; empty for operations without one and for streams. */
  readonly body: Buffer
  /** The body as it comes in, for operations that stream; null for all others. */
  readonly stream: Readable | null
  /** The header `content-encoding`; null without it. */
  readonly contentEncoding: string | null
  /** The address of the caller; null if the connection was gone before it could be read. */
  readonly sourceAddress: string | null
  /** Aborted when the caller has gone before the answer was whole. */
  readonly signal: AbortSignal
}

/** Whole, so that nothing can fail once the first byte has left, and sent with its length. */
type AnswerBody =
  | { readonly json: unknown }
  | { readonly text: string | Buffer }
  | { readonly file: StaticFile }

export interface Answer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  /** Of a refusal; it is sent as a header. */
  readonly code?: RefusalCode
  /** Null: no body. */
  readonly body: AnswerBody | null
  /** True: it has no secrets, and may be sent compressed. */
  readonly mayCompress?: boolean
}

export type Handler = (call: Call) => Promise<Answer>

/** By operation id of the contract. */
export type HandlerTable = Readonly<Record<string, Handler>>

export function answerJson(status: number, json: unknown): Answer {
  return { status, body: { json } }
}

/** The one shape of every refusal; messages never repeat what came in. */
export function refuse(code: RefusalCode, messages: readonly string[]): Answer {
  return { ...answerJson(refusalKinds[code].status, { messages }), code }
}
