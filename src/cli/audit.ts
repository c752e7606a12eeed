// Copies the audit out of the service, and checks its chains of hashes.
import { auditLineSchema, auditExportQuerySchema, nextHeader } from '../contract/audit.ts'
import { compileParser } from '../contract/validate.ts'
import { parseHead, printHead, type ChainedRecord } from '../domain/audit-chain.ts'
import {
  AuditVerifier,
  type AuditFault,
  type AuditVerdict,
  type AuditVerifierOptions,
} from '../domain/audit-verifier.ts'
import { isThisOurs } from './client.ts'
import { CliError, usageError, type Run, type CommandContext } from './command.ts'
import { openInput } from './input.ts'
import { linesOf } from './text-lines.ts'
import { printable } from './table.ts'
import { counted } from './words.ts'

const pageLimit = 1_000
const exportType = 'application/x-ndjson'
/** A line holds details of at most 20,000 characters, and names. */
const lineLengthMax = 1_048_576
const headsMax = 1_000

const parseLine = compileParser(auditLineSchema)
const parseQuery = compileParser(auditExportQuerySchema)

export const auditExport: Run = async (context) => {
  for await (const text of readPages(context)) {
    // A slow reader must not make this process hold the whole audit. Where nothing can be written there is no more to do.
    if (!(await context.write(text))) break
  }
  return 0
}

export const auditVerify: Run = async (context) => {
  const { positionals, options } = context
  const isPart = options['part'] === true
  const heads = headsOf(options['head'])
  if (isPart && positionals.length === 0) throw usageError('--part must be given with a FILE')
  const isFile = positionals.length > 0
  const pass = async () =>
    await verify(isFile ? readFileLines(context) : readServiceLines(context), { heads, isPart })
  let verdict = await pass()
  // A record that another node wrote late may appear behind the place where the reading is: look again.
  if (verdict.fault !== null && !isFile) verdict = await pass()
  if (isFile && !isPart && verdict.fault === null && verdict.recordCount === 0) {
    // An export that failed leaves an empty file behind.
    throw new CliError('The file has no record, and so it proves nothing. Is it an export?')
  }
  context.print(toJson(verdict), describe(verdict))
  return verdict.fault === null ? 0 : 1
}

async function verify(
  lines: AsyncIterable<string>,
  options: AuditVerifierOptions
): Promise<AuditVerdict> {
  const verifier = new AuditVerifier(options)
  let number = 0
  for await (const line of lines) {
    number += 1
    if (line.trim() !== '') verifier.take(readLine(line, number))
  }
  return verifier.end()
}

function headsOf(given: CommandContext['options'][string]) {
  const texts = Array.isArray(given) ? given.map(String) : []
  if (texts.length > headsMax) throw usageError(`--head must be given at most ${headsMax} times`)
  return texts.map((text) => {
    const head = parseHead(text)
    if (head !== null) return head
    throw usageError('--head must be WRITER:SEQUENCE:HASH, as "audit verify" prints it')
  })
}

async function* readPages(context: CommandContext): AsyncGenerator<string> {
  const { from, to } = context.options
  const range = {
    ...(typeof from === 'string' && { from }),
    ...(typeof to === 'string' && { to }),
  }
  const parsed = parseQuery(range)
  if (!parsed.ok) throw usageError(parsed.messages.join('; ').replaceAll('/', '--'))
  let after: string | undefined
  do {
    const query = new URLSearchParams({
      ...range,
      ...(after !== undefined && { after }),
      limit: String(pageLimit),
    })
    const path = `/audit/export?${query.toString()}`
    const { text, headers } = await context.callForText({ method: 'GET', path })
    // A proxy may answer with a page of its own, and nobody looks into the file of a nightly export.
    if (headers['content-type']?.startsWith(exportType) !== true) {
      throw new CliError(`The answer is no export of the audit. ${isThisOurs}`)
    }
    yield text
    const next = headers[nextHeader]
    if (next !== undefined && next === after) {
      throw new CliError('Unexpected answer from the server: a page leads to itself.')
    }
    after = typeof next === 'string' ? next : undefined
  } while (after !== undefined)
}

async function* readServiceLines(context: CommandContext): AsyncGenerator<string> {
  for await (const text of readPages(context)) yield* text.split('\n')
}

async function* readFileLines(context: CommandContext): AsyncGenerator<string> {
  for await (const line of linesOf(await openInput(context))) {
    if (line.text === null) throw noLine(line.number, line.fault)
    yield line.text
  }
}

function noLine(number: number, reason: string): CliError {
  return new CliError(`Line ${number} is no line of an export: ${reason}.`)
}

function readLine(line: string, number: number): ChainedRecord {
  const refuse = (reason: string) => noLine(number, reason)
  if (line.length > lineLengthMax) throw refuse('it is longer than 1 MiB')
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    throw refuse('it is not JSON')
  }
  const parsed = parseLine(value)
  if (parsed.ok) return parsed.value
  throw refuse(printable(parsed.messages.join('; ')))
}

function toJson({ heads, ...verdict }: AuditVerdict) {
  return { ...verdict, isWhole: verdict.fault === null, heads: heads.map(printHead) }
}

function describe(verdict: AuditVerdict): string {
  const { fault, recordCount, unchainedCount, beginsAt, heads } = verdict
  if (fault !== null) return `The audit is not whole: ${describeFault(fault)}`
  const begin =
    beginsAt === null ? 'No record has a chain.' : `The chain begins at ${printable(beginsAt)}.`
  return [
    `The audit is whole: ${counted(recordCount, 'record')}. ${begin}`,
    ...(unchainedCount > 0
      ? [
          `${counted(unchainedCount, 'record')} from before it ${unchainedCount === 1 ? 'proves' : 'prove'} nothing.`,
        ]
      : []),
    ...(heads.length > 0 ? ['Keep these heads elsewhere, for --head:'] : []),
    ...heads.map((head) => `  ${printHead(head)}`),
  ].join('\n')
}

function describeFault(fault: AuditFault): string {
  if (fault.kind === 'unchained') {
    return `record ${printable(fault.id)} at ${printable(fault.at)} has no chain, but is later than its beginning.`
  }
  const { writer, sequence } = fault.head
  const name = `record ${sequence} of writer ${printable(writer)}`
  switch (fault.kind) {
    case 'changed':
      return `${name} is not as it was written.`
    case 'repeated':
      return `${name} stands there twice, or after a later one.`
    case 'missing':
      return `${name} is missing.`
    case 'out-of-order':
      return `${name} stands in the wrong place.`
    case 'head': {
      const by = fault.namedBy
      const who = by === null ? '--head' : `record ${by.sequence} of writer ${printable(by.writer)}`
      return `${name} is missing or another one: ${who} names it with its hash.`
    }
  }
}
