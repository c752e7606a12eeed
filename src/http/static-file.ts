import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { gzipSync } from 'node:zlib'
import { codingWeight } from './accept-encoding.ts'

interface StaticFileOptions {
  /** The path always names this content and no other. Default false. */
  readonly isImmutable?: boolean
}

/**
 * Static content. Callers that already have it get 304. It is written and compressed for the first caller and then
 * kept: an engine serves 2.5 MB of it, which nobody asks most engines for.
 */
export class StaticFile {
  readonly isImmutable: boolean
  readonly #write: () => Buffer | string
  #made: { readonly plain: Buffer; readonly gzip: Buffer | null; readonly hash: string } | null =
    null

  constructor(write: () => Buffer | string, { isImmutable = false }: StaticFileOptions = {}) {
    this.#write = write
    this.isImmutable = isImmutable
  }

  get plain(): Buffer {
    return this.#make().plain
  }

  /** Null: compression would gain nothing. */
  get gzip(): Buffer | null {
    return this.#make().gzip
  }

  /** The hash of the content, independent of its encoding. */
  get hash(): string {
    return this.#make().hash
  }

  #make() {
    if (this.#made !== null) return this.#made
    const content = this.#write()
    const plain = typeof content === 'string' ? Buffer.from(content) : content
    const gzip = gzipSync(plain, { level: 9 })
    this.#made = {
      plain,
      gzip: gzip.length < plain.length ? gzip : null,
      hash: createHash('sha256').update(plain).digest('base64url'),
    }
    return this.#made
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
  const { plain, gzip, hash, isImmutable } = file
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
