// Reads ads from a stream, one by one: NDJSON of any length, or the document {"links":[…]} that the API takes.
import type { Readable } from 'node:stream'
import { CliError } from './command.ts'
import { linesOf, noUtf8, type TextLine } from './text-lines.ts'

/** `lines`: NDJSON. `document`: a JSON object with a list. */
export type AdForm = 'lines' | 'document'

export type ReadAd = {
  /** `line 7`, or `/links/6` of a document. */
  readonly place: string
  /** From 1. */
  readonly number: number
} & ({ readonly value: unknown } | { readonly fault: string })

/** A document is held as a whole. */
const documentBytesMax = 67_108_864

/** The form is known from the first line that is not blank. */
export async function readAds(
  input: Readable
): Promise<{ readonly form: AdForm; readonly ads: AsyncIterable<ReadAd> }> {
  const lines = linesOf(input)
  const skipped: TextLine[] = []
  for (;;) {
    const { value: line, done } = await lines.next()
    if (done === true) return { form: 'lines', ads: adsOfLines(skipped, lines) }
    skipped.push(line)
    if (line.text?.trim() === '') continue
    const isDocument = line.text !== null && /^\s*\{\s*(?:"links"\s*:|$)/u.test(line.text)
    return isDocument
      ? { form: 'document', ads: adsOfDocument(skipped, lines) }
      : { form: 'lines', ads: adsOfLines(skipped, lines) }
  }
}

async function* chain(
  first: readonly TextLine[],
  rest: AsyncIterable<TextLine>
): AsyncGenerator<TextLine> {
  yield* first
  yield* rest
}

async function* adsOfLines(
  first: readonly TextLine[],
  rest: AsyncIterable<TextLine>
): AsyncGenerator<ReadAd> {
  for await (const line of chain(first, rest)) {
    const { number } = line
    const place = `line ${number}`
    if (line.text === null) yield { place, number, fault: line.fault }
    else if (line.text.trim() !== '') yield { place, number, ...parseLine(line.text) }
  }
}

function parseLine(text: string): { readonly value: unknown } | { readonly fault: string } {
  try {
    return { value: JSON.parse(text) }
  } catch {
    // The parser's message would repeat a part of the line, which may name a shopper.
    return { fault: 'it is not JSON' }
  }
}

async function* adsOfDocument(
  first: readonly TextLine[],
  rest: AsyncIterable<TextLine>
): AsyncGenerator<ReadAd> {
  const texts: string[] = []
  let length = 0
  for await (const line of chain(first, rest)) {
    if (line.text === null && line.fault === noUtf8) {
      throw new CliError(`line ${line.number}: ${noUtf8}`)
    }
    length += (line.text ?? '').length + 1
    if (line.text === null || length > documentBytesMax) {
      throw new CliError(
        'The document is too long (64 MiB, 1 MiB a line): give one ad a line instead, as NDJSON.'
      )
    }
    texts.push(line.text)
  }
  for (const [index, value] of listOf(texts.join('\n')).entries()) {
    yield { place: `/links/${index}`, number: index + 1, value }
  }
}

function listOf(text: string): readonly unknown[] {
  const parsed = parseLine(text)
  const value: unknown = 'value' in parsed ? parsed.value : null
  const keys = typeof value === 'object' && value !== null ? Object.keys(value) : []
  const links: unknown = Object(value).links
  if (keys.length === 1 && Array.isArray(links)) return links
  throw new CliError('The input is neither {"links":[…]} nor one ad as a JSON object a line.')
}
