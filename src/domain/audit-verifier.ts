// Checks the chains of an audit, record by record in the order of the export. Memory is 16 bytes a record:
// a record may name the head of a chain that was read long before it.
import { hashRecord, noHash, parseHead, type AuditHead, type ChainedRecord } from './audit-chain.ts'

export type AuditFault =
  | {
      readonly kind: 'changed' | 'repeated' | 'missing' | 'out-of-order'
      readonly head: RecordName
    }
  /** A record without a chain that is later than the first one with a chain. */
  | { readonly kind: 'unchained'; readonly id: string; readonly at: string }
  /** Someone names a head, and the record is missing or another one. */
  | { readonly kind: 'head'; readonly head: RecordName; readonly namedBy: RecordName | null }

type RecordName = Pick<AuditHead, 'writer' | 'sequence'>

export interface AuditVerdict {
  readonly fault: AuditFault | null
  readonly recordCount: number
  /** Records from before the chain, which nothing proves. */
  readonly unchainedCount: number
  /** Where the chain begins; null if there is no chained record. */
  readonly beginsAt: string | null
  /** The last record of each chain, to be kept elsewhere. */
  readonly heads: readonly AuditHead[]
}

export interface AuditVerifierOptions {
  /** Heads that were kept elsewhere. */
  readonly heads: readonly AuditHead[]
  /** The records are a part of the audit: chains may begin in its middle. */
  readonly isPart: boolean
}

interface Chain {
  readonly hashes: HashList
  last: AuditHead
}

export class AuditVerifier {
  readonly #options: AuditVerifierOptions
  readonly #chains = new Map<string, Chain>()
  readonly #named: { readonly head: AuditHead; readonly namedBy: RecordName }[] = []
  #fault: AuditFault | null = null
  #recordCount = 0
  #unchainedCount = 0
  #beginsAt: string | null = null

  constructor(options: AuditVerifierOptions) {
    this.#options = options
  }

  /** In the order of the export: by instant, then by id. */
  take(record: ChainedRecord): void {
    this.#recordCount += 1
    if (this.#fault !== null) return this.#look(record)
    if (record.writer === '') return this.#takeUnchained(record)
    this.#beginsAt ??= record.at
    this.#fault = this.#faultOf(record)
    if (this.#fault !== null) return
    this.#append(record)
    for (const text of record.heads) {
      const head = parseHead(text)
      if (head === null) this.#fault = { kind: 'changed', head: record }
      else this.#named.push({ head, namedBy: nameOf(record) })
    }
  }

  end(): AuditVerdict {
    return {
      fault: this.#fault ?? this.#headFault(),
      recordCount: this.#recordCount,
      unchainedCount: this.#unchainedCount,
      beginsAt: this.#beginsAt,
      heads: [...this.#chains.values()].map(({ last }) => last),
    }
  }

  #takeUnchained({ id, at }: ChainedRecord): void {
    this.#unchainedCount += 1
    if (this.#beginsAt !== null) this.#fault = { kind: 'unchained', id, at }
  }

  /** What was missing may only stand in the wrong place. */
  #look(record: ChainedRecord): void {
    const fault = this.#fault
    if (fault?.kind !== 'missing') return
    const isIt = record.writer === fault.head.writer && record.sequence === fault.head.sequence
    if (isIt) this.#fault = { kind: 'out-of-order', head: fault.head }
  }

  #faultOf(record: ChainedRecord): AuditFault | null {
    const { writer, sequence, previousHash } = record
    const head = nameOf(record)
    if (hashRecord(record) !== record.hash) return { kind: 'changed', head }
    const chain = this.#chains.get(writer)
    if (chain === undefined) {
      if (this.#options.isPart) return null
      if (sequence !== 1) return { kind: 'missing', head: { writer, sequence: 1 } }
      return previousHash === noHash ? null : { kind: 'changed', head }
    }
    const expected = chain.last.sequence + 1
    if (sequence < expected) return { kind: 'repeated', head }
    if (sequence > expected) return { kind: 'missing', head: { writer, sequence: expected } }
    // The hash is its own, so the record before it is not the one that stood there.
    return previousHash === chain.last.hash ? null : { kind: 'changed', head: nameOf(chain.last) }
  }

  #append({ writer, sequence, hash }: ChainedRecord): void {
    const last = { writer, sequence, hash }
    const chain = this.#chains.get(writer)
    if (chain === undefined) {
      this.#chains.set(writer, { hashes: new HashList(last), last })
      return
    }
    chain.hashes.push(hash)
    chain.last = last
  }

  #headFault(): AuditFault | null {
    const kept = this.#options.heads.map((head) => ({ head, namedBy: null }))
    for (const { head, namedBy } of [...this.#named, ...kept]) {
      const isHere = this.#chains.get(head.writer)?.hashes.has(head) ?? false
      if (isHere || (namedBy !== null && this.#isOutside(head))) continue
      return { kind: 'head', head: nameOf(head), namedBy }
    }
    return null
  }

  /** A part says nothing about what comes before it. */
  #isOutside({ writer, sequence }: AuditHead): boolean {
    if (!this.#options.isPart) return false
    const chain = this.#chains.get(writer)
    return chain === undefined || sequence < chain.hashes.firstSequence
  }
}

function nameOf({ writer, sequence }: RecordName): RecordName {
  return { writer, sequence }
}

const bytesKept = 16

/** The hashes of a chain, cut to what nobody can find a second record for. */
class HashList {
  readonly firstSequence: number
  #bytes = Buffer.alloc(bytesKept * 16)
  #count = 0

  constructor({ sequence, hash }: AuditHead) {
    this.firstSequence = sequence
    this.push(hash)
  }

  push(hash: string): void {
    const start = this.#count * bytesKept
    if (start === this.#bytes.length) {
      this.#bytes = Buffer.concat([this.#bytes, Buffer.alloc(start)])
    }
    this.#bytes.write(hash.slice(0, bytesKept * 2), start, 'hex')
    this.#count += 1
  }

  has({ sequence, hash }: AuditHead): boolean {
    const index = sequence - this.firstSequence
    if (index < 0 || index >= this.#count) return false
    const kept = this.#bytes.subarray(index * bytesKept, (index + 1) * bytesKept)
    return kept.toString('hex') === hash.slice(0, bytesKept * 2)
  }
}
