const lineFeed = 0x0a
const quote = 0x22

/**
 * Counts the records of an RFC 4180 file as its bytes pass by. A quote inside a quoted field is doubled,
 * so that every quote can be taken for a change between inside and outside.
 */
export class RecordCounter {
  /** Records that ended, the header among them. */
  recordCount = 0
  #isQuoted = false
  #lastByte = lineFeed

  add(bytes: Uint8Array): void {
    for (const byte of bytes) {
      if (byte === quote) this.#isQuoted = !this.#isQuoted
      else if (byte === lineFeed && !this.#isQuoted) this.recordCount += 1
    }
    this.#lastByte = bytes.at(-1) ?? this.#lastByte
  }

  /** Whether the bytes so far end where a record ends. */
  get isAtEnd(): boolean {
    return !this.#isQuoted && this.#lastByte === lineFeed
  }
}
