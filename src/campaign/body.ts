import type { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import type { BodyFull, BodyShare } from './body-budget.ts'

export const uploadLimits = {
  bytesMaxDefault: 1_048_576,
  /** By operation, where it is not the default. */
  bytesMax: { putCatalog: 67_108_864 } as Readonly<Record<string, number>>,
  /** For a body that is read whole: 64 MiB at half a megabyte a second. */
  wholeMsMax: 120_000,
  /** A smaller body has less time: half a minute, plus its length at this many bytes a second. */
  wholeMsMin: 30_000,
  wholeBytesPerSecondMin: 32_768,
  /** Without a byte, for a body that is streamed: it may last as long as it moves. */
  streamIdleMsMax: 60_000,
} as const

/**
 * Breaks the connection of a sender that is too slow, also of one that was refused and is only read
 * past. Nobody can hold a connection for ever by sending one byte at a time.
 */
export function boundUpload(raw: IncomingMessage, kind: 'whole' | 'stream'): void {
  const { socket } = raw
  // Injected requests of tests have no real socket.
  if (!hasBody(raw) || !(socket instanceof Socket)) return
  if (kind === 'stream') {
    raw.setTimeout(uploadLimits.streamIdleMsMax, () => raw.destroy())
    return
  }
  const timer = setTimeout(() => {
    if (!raw.complete) socket.destroy()
  }, wholeMsOf(raw))
  timer.unref()
  raw.once('close', () => clearTimeout(timer))
}

/** The whole body. Rejects when the sender goes away before its end. */
export function readBody(
  raw: IncomingMessage,
  { bytesMax, share }: { readonly bytesMax: number; readonly share: BodyShare }
): Promise<Buffer | 'too-large' | BodyFull> {
  return new Promise((resolve, reject) => {
    if (Number(raw.headers['content-length'] ?? 0) > bytesMax) {
      discard(raw)
      resolve('too-large')
      return
    }
    const chunks: Buffer[] = []
    let bytes = 0
    const take = (chunk: Buffer) => {
      bytes += chunk.length
      const fault = bytes > bytesMax ? 'too-large' : share.add(chunk.length)
      if (fault === null) {
        chunks.push(chunk)
        return
      }
      raw.off('data', take)
      chunks.length = 0
      discard(raw)
      resolve(fault)
    }
    raw.on('data', take)
    raw.once('end', () => resolve(Buffer.concat(chunks)))
    raw.once('error', reject)
    raw.once('close', () => reject(new Error('the sender has gone')))
  })
}

/** The rest is read past, so that the sender gets to read the answer instead of a reset. */
function discard(raw: IncomingMessage): void {
  raw.resume()
}

function wholeMsOf({ headers }: IncomingMessage): number {
  const length = headers['content-length']
  if (length === undefined) return uploadLimits.wholeMsMax
  const lengthMs = (Number(length) / uploadLimits.wholeBytesPerSecondMin) * 1_000
  return Math.min(uploadLimits.wholeMsMax, uploadLimits.wholeMsMin + lengthMs)
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}
