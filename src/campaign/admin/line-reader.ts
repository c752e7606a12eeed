import type { Readable } from 'node:stream'
import { foreignFault } from '../../lib/foreign-file.ts'

export const lineBytesMax = 1_048_576

export interface Line {
  /** From 1 on; blank lines count. */
  readonly number: number
  /** Without the line end; null when the line is too long. */
  readonly bytes: Buffer | null
}

const lineFeed = 0x0a
const carriageReturn = 0x0d
/** Programs of DOS and their heirs write it behind the last line, some more than once. */
const endOfFile = 0x1a

export interface LineOptions {
  /** The first line end of the text tells: files of old Macs have carriage returns alone. */
  readonly mayEndInCarriageReturns?: boolean
}

/**
 * The lines of a stream, in flat memory whatever its length: a line that is too long is skipped, not
 * collected. Reading stops as long as nobody asks for the next lines, so the sender has to wait.
 */
export async function* readLines(
  stream: Readable,
  { mayEndInCarriageReturns = false }: LineOptions = {}
): AsyncGenerator<readonly Line[]> {
  const splitter = new LineSplitter(mayEndInCarriageReturns)
  try {
    // Destroying the stream of a request would cut the connection before its sender reads why.
    for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
      const lines = splitter.push(toBuffer(chunk))
      if (lines.length > 0) yield lines
    }
    const last = splitter.end()
    if (last !== null) yield [last]
  } finally {
    // The rest is read past when the reader gives up, for the same reason.
    stream.resume()
  }
}

const nothing = Buffer.alloc(0)
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf])

/** The first line without the mark that some programs put before a text; others as they are. */
export function withoutByteOrderMark(line: Line): Line {
  const { number, bytes } = line
  const isMarked = number === 1 && bytes !== null && bytes.subarray(0, 3).equals(byteOrderMark)
  return isMarked ? { number, bytes: bytes.subarray(3) } : line
}

/** Of the first line: what is wrong with the text if it is compressed or in UTF-16; null for every other line. */
export function foreignTextFault({ number, bytes }: Line): string | null {
  return number === 1 && bytes !== null ? foreignFault(bytes) : null
}

class LineSplitter {
  #parts: Buffer[] = []
  #bytes = 0
  #number = 0
  /** Null while no line end was seen that tells. */
  #lineEnd: number | null
  /** A chunk that ends with a carriage return, until it is known what follows. */
  #held: Buffer | null = null

  constructor(mayEndInCarriageReturns: boolean) {
    this.#lineEnd = mayEndInCarriageReturns ? null : lineFeed
  }

  push(next: Buffer): readonly Line[] {
    const chunk = this.#held === null ? next : Buffer.concat([this.#held, next])
    this.#held = null
    this.#lineEnd ??= findLineEnd(chunk)
    if (this.#lineEnd === null && chunk.at(-1) === carriageReturn) {
      this.#held = chunk
      return []
    }
    return this.#split(chunk, this.#lineEnd ?? lineFeed)
  }

  #split(chunk: Buffer, lineEnd: number): readonly Line[] {
    const lines: Line[] = []
    let start = 0
    for (let at = nextEnd(chunk, 0, lineEnd); at !== -1; at = nextEnd(chunk, start, lineEnd)) {
      if (at > start) this.#keep(chunk.subarray(start, at))
      lines.push(this.#finish())
      start = at + 1
    }
    if (start < chunk.length) this.#keep(chunk.subarray(start))
    return lines
  }

  /** The text after the last line end, if there is any. */
  end(): Line | null {
    if (this.#held !== null) this.#keep(this.#held.subarray(0, -1))
    if (this.#bytes === 0) return null
    const { number, bytes } = this.#finish()
    if (bytes === null) return { number, bytes }
    const text = withoutEndMarks(bytes)
    return text.length === 0 ? null : { number, bytes: text }
  }

  #keep(part: Buffer): void {
    this.#bytes += part.length
    if (this.#bytes > lineBytesMax) this.#parts = []
    else this.#parts.push(part)
  }

  #finish(): Line {
    this.#number += 1
    // A megabyte of line ends is a million lines: what is empty, or in one piece, costs no buffer.
    const [first = nothing, ...others] = this.#parts
    const whole = others.length === 0 ? first : Buffer.concat(this.#parts)
    const bytes = this.#bytes > lineBytesMax ? null : whole
    if (this.#bytes > 0) {
      this.#parts = []
      this.#bytes = 0
    }
    return { number: this.#number, bytes }
  }
}

function withoutEndMarks(bytes: Buffer): Buffer {
  let end = bytes.length
  while (end > 0 && bytes[end - 1] === endOfFile) end -= 1
  return bytes.subarray(0, end)
}

/** A search costs more than a look, and blank lines come in runs. */
function nextEnd(chunk: Buffer, start: number, lineEnd: number): number {
  return chunk[start] === lineEnd ? start : chunk.indexOf(lineEnd, start)
}

/** Null if the chunk does not tell. */
function findLineEnd(chunk: Buffer): number | null {
  const feedAt = chunk.indexOf(lineFeed)
  const returnAt = chunk.indexOf(carriageReturn)
  if (returnAt === -1 || (feedAt !== -1 && feedAt < returnAt))
    return feedAt === -1 ? null : lineFeed
  if (returnAt === chunk.length - 1) return null
  return chunk[returnAt + 1] === lineFeed ? lineFeed : carriageReturn
}

function toBuffer(chunk: unknown): Buffer {
  return Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk))
}
