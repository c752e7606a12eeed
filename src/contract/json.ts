import { isUtf8 } from 'node:buffer'
import { foreignFault } from '../lib/foreign-file.ts'

export type ParsedBody =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly messages: readonly string[] }

// V8 names a position only in the messages that end like this; those that quote the input end in
// "is not valid JSON". Anchoring at the end keeps a crafted body from faking a position.
const positionAtEnd = / in JSON at position (\d+)(?: \(line \d+ column \d+\))?$/

/**
 * Reads a JSON body strictly as UTF-8, with an optional byte order mark before it. Invalid bytes are
 * refused instead of replaced: replacement would turn two different user ids into the same one.
 * Messages never repeat any of the body. If a key is doubled, the last value wins, as in `JSON.parse`, and
 * nothing downstream sees the other one. Deep nesting is harmless: V8 parses without recursion.
 */
export function parseJsonBody(bytes: Buffer): ParsedBody {
  const content = hasByteOrderMark(bytes) ? bytes.subarray(3) : bytes
  if (content.length === 0) return refused('body must not be empty')
  // Checking and then decoding costs less than a fatal TextDecoder (120 against 165 ns for 300 bytes).
  if (!isUtf8(content)) return refused(`body ${foreignFault(content) ?? 'must be valid UTF-8'}`)

  const parsed = parseText(content.toString('utf8'))
  const fault = parsed.ok ? null : foreignFault(content)
  return fault === null ? parsed : refused(`body ${fault}`)
}

function parseText(text: string): ParsedBody {
  try {
    const value: unknown = JSON.parse(text)
    return { ok: true, value }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    const position = positionAtEnd.exec(error.message)?.[1]
    const where = position === undefined ? '' : `, broken at position ${position}`
    return refused(`body must be valid JSON${where}`)
  }
}

function hasByteOrderMark(bytes: Buffer): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
}

function refused(message: string): ParsedBody {
  return { ok: false, messages: [message] }
}
