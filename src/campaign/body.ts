import type { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'

export const uploadLimits = {
  bytesMaxDefault: 1_048_576,
  /** By operation, where it is not the default. */
  bytesMax: { putCatalog: 67_108_864 } as Readonly<Record<string, number>>,
  /** For a body that is read whole: 64 MiB at half a megabyte a second. */
  wholeMsMax: 120_000,
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
  }, uploadLimits.wholeMsMax)
  timer.unref()
  raw.once('close', () => clearTimeout(timer))
}

/** The whole body. Rejects when the sender goes away before its end. */
export function readBody(raw: IncomingMessage, bytesMax: number): Promise<Buffer | 'too-large'> {
  return new Promise((resolve, reject) => {
    if (Number(raw.headers['content-length'] ?? 0) > bytesMax) {
      resolve(discard(raw))
      return
    }
    const chunks: Buffer[] = []
    let bytes = 0
    const take = (chunk: Buffer) => {
      bytes += chunk.length
      chunks.push(chunk)
      if (bytes <= bytesMax) return
      raw.off('data', take)
      chunks.length = 0
      resolve(discard(raw))
    }
    raw.on('data', take)
    raw.once('end', () => resolve(Buffer.concat(chunks)))
    raw.once('error', reject)
    raw.once('close', () => reject(new Error('the sender has gone')))
  })
}

/** The rest is read past, so that the sender gets to read the answer instead of a reset. */
function discard(raw: IncomingMessage): 'too-large' {
  raw.resume()
  return 'too-large'
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}
