import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { gzipSync } from 'node:zlib'
import { codingWeight } from './accept-encoding.ts'

interface StaticFileOptions {
  /** The path always names this content and no other. Default false. */
  readonly isImmutable?: boolean
}

/** Content in the encodings that callers may take. */
interface Written {
  readonly plain: Buffer
  /** Null: compression would gain nothing. */
  readonly gzip: Buffer | null
  /** The hash of the content, independent of its encoding. */
  readonly hash: string
}

/**
 * Static content. Callers that already have it get 304. It is written and compressed for the first caller and then
 * kept: an engine has 2.5 MB of it, and most engines are never asked for it.
 */
export class StaticFile {
  readonly isImmutable: boolean
  readonly #write: () => Buffer | string
  #written: Written | null = null

  constructor(write: () => Buffer | string, { isImmutable = false }: StaticFileOptions = {}) {
    this.#write = write
    this.isImmutable = isImmutable
  }

  read(): Written {
    this.#written ??= compress(Buffer.from(this.#write()))
    return this.#written
  }
}

function compress(plain: Buffer): Written {
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
  const { plain, gzip, hash } = file.read()
  const isGzip = gzip !== null && codingWeight(asked['accept-encoding'] ?? '', 'gzip', 'x-gzip') > 0
  return {
    isKnown: isNamed(asked['if-none-match'] ?? '', hash),
    bytes: isGzip ? gzip : plain,
    headers: {
      // Kept, but asked for anew each time unless the path names the content: after an update no old
      // script meets a new page.
      'cache-control': file.isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache',
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
