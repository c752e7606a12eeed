import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { gzipSync } from 'node:zlib'
import { codingWeight } from './accept-encoding.ts'
import type { StaticFile } from './handler.ts'

/** Compresses once, so that no request pays for it. */
export function createStaticFile(content: Buffer | string): StaticFile {
  const plain = Buffer.from(content)
  const gzip = gzipSync(plain, { level: 9 })
  return {
    plain,
    gzip: gzip.length < plain.length ? gzip : null,
    hash: createHash('sha256').update(plain).digest('base64url'),
  }
}

interface Chosen {
  /** The caller has these bytes already. */
  readonly isKnown: boolean
  readonly bytes: Buffer
  readonly headers: Readonly<Record<string, string>>
}

type AskedWith = Pick<IncomingHttpHeaders, 'accept-encoding' | 'if-none-match'>

export function chooseEncoding(file: StaticFile, asked: AskedWith): Chosen {
  const { plain, gzip, hash, isImmutable = false } = file
  const isGzip = gzip !== null && codingWeight(asked['accept-encoding'] ?? '', 'gzip', 'x-gzip') > 0
  return {
    isKnown: isNamed(asked['if-none-match'] ?? '', hash),
    bytes: isGzip ? gzip : plain,
    headers: {
      // Kept, but asked for anew each time unless the path names the content: after an update no old
      // script meets a new page.
      'cache-control': isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache',
      // Weak, as RFC 9110 has it for one content in several encodings.
      etag: `W/"${hash}"`,
      vary: 'accept-encoding',
      ...(isGzip && { 'content-encoding': 'gzip' }),
    },
  }
}

function isNamed(ifNoneMatch: string, hash: string): boolean {
  const tags = new Set(ifNoneMatch.split(',').map((tag) => tag.trim().replace(/^W\//, '')))
  return tags.has('*') || tags.has(`"${hash}"`)
}
