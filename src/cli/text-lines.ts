// Lines of text from a file or the standard input, as the commands read them that take one thing a line.
import { isUtf8 } from 'node:buffer'
import type { Readable } from 'node:stream'
import { foreignFault } from '../lib/foreign-file.ts'
import { CliError } from './command.ts'

export type TextLine = { readonly number: number } & (
  | { readonly text: string }
  /** It cannot be read. */
  | { readonly text: null; readonly fault: string }
)

const lineBytesMax = 1_048_576
const tooLong = 'it is longer than 1 MiB'
/** Decoding it anyway would give different shoppers the same id. */
export const noUtf8 = 'it must be valid UTF-8'

/**
 * Splits at line feeds. Of a line that is too long, no more is held than the bound. The first line is without its byte
 * order mark; if it shows that the input is compressed or in UTF-16, all of it is refused.
 */
export async function* linesOf(input: Readable): AsyncGenerator<TextLine, undefined> {
  let number = 0
  let parts: Buffer[] = []
  let bytes = 0
  const take = (part: Buffer) => {
    bytes += part.length
    if (bytes <= lineBytesMax) parts.push(part)
  }
  const end = (): TextLine => {
    number += 1
    const whole = Buffer.concat(parts)
    const isTooLong = bytes > lineBytesMax
    parts = []
    bytes = 0
    const fault = number === 1 ? foreignFault(whole) : null
    if (fault !== null) throw new CliError(`The input ${fault}.`)
    if (isTooLong) return { number, text: null, fault: tooLong }
    if (!isUtf8(whole)) return { number, text: null, fault: noUtf8 }
    const text = whole.toString('utf8')
    return { number, text: number === 1 ? text.replace(/^\uFEFF/u, '') : text }
  }
  for await (const chunk of input) {
    const rest = Buffer.from(chunk)
    let from = 0
    for (let at = rest.indexOf(0x0a); at !== -1; at = rest.indexOf(0x0a, from)) {
      take(rest.subarray(from, at))
      yield end()
      from = at + 1
    }
    take(rest.subarray(from))
  }
  if (bytes > 0) yield end()
  return undefined
}
