import type { ServerResponse } from 'node:http'
import type { FastifyReply } from 'fastify'
import type { Answer, StaticFile } from '../access/handler.ts'
import { commonHeaders } from './common-headers.ts'
import { chooseEncoding } from './static-file.ts'

/** A reader that takes nothing for so long holds a session of the warehouse for nothing. */
const stallMsMax = 60_000

const jsonType = { 'content-type': 'application/json; charset=utf-8' } as const

/**
 * Sends an answer whole. Chunks that fail before the first one reject, and nothing is sent yet; when
 * they fail later the connection breaks and `onBroken` is told once.
 */
export async function sendAnswer(
  reply: FastifyReply,
  { status, headers, body }: Answer,
  onBroken: (error: unknown) => void = ignore
): Promise<void> {
  if (body !== null && 'chunks' in body) {
    await sendChunks(
      reply,
      { status, headers: { ...commonHeaders, ...headers } },
      { ...body, onBroken }
    )
    return
  }
  if (body !== null && 'file' in body) {
    sendFile(reply, { status, headers: { ...commonHeaders, ...headers } }, body.file)
    return
  }
  const isJson = body !== null && 'json' in body
  void reply.code(status).headers({ ...commonHeaders, ...(isJson && jsonType), ...headers })
  if (body === null) void reply.send()
  else void reply.send('json' in body ? JSON.stringify(body.json) : body.text)
}

interface Head {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
}

function sendFile(reply: FastifyReply, head: Head, file: StaticFile): void {
  const { isKnown, bytes, headers } = chooseEncoding(file, reply.request.headers)
  const all = { ...head.headers, ...headers }
  if (!isKnown) {
    void reply.code(head.status).headers(all).send(bytes)
    return
  }
  // The framework would give the 304 of a HEAD a length of 0, which a cache would take over.
  reply.hijack()
  reply.raw.writeHead(304, all).end()
}

interface Chunks {
  readonly chunks: AsyncIterable<string>
  readonly onBroken: (error: unknown) => void
}

/** The first chunk is always asked for, so that a generator that holds something gets to let it go. */
async function sendChunks(
  reply: FastifyReply,
  { status, headers }: Head,
  { chunks, onBroken }: Chunks
): Promise<void> {
  const iterator = chunks[Symbol.asyncIterator]()
  let next = await iterator.next()
  reply.hijack()
  const { raw } = reply
  try {
    raw.writeHead(status, headers)
    while (next.done !== true && !raw.destroyed) {
      if (!raw.write(next.value)) await drain(raw)
      next = await iterator.next()
    }
    raw.end()
  } catch (error) {
    // Without its last chunk the transfer is broken for every client: a cut file never looks whole.
    raw.destroy()
    onBroken(error)
  } finally {
    await iterator.return?.()
  }
}

/** Waits until the reader has taken what was written, has gone, or has stalled for too long. */
function drain(raw: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      raw.off('drain', done)
      raw.off('close', done)
      resolve()
    }
    const timer = setTimeout(() => raw.destroy(), stallMsMax)
    raw.once('drain', done)
    raw.once('close', done)
    if (raw.destroyed) done()
  })
}

/** Answers without chunks cannot break. */
function ignore(): void {}
