// entry = 7 words of 32 bits in a table of fixed size, found by linear probing:
//   0-3  the first 20 of the token's last 22 characters, 5 in each (6 bits a character)
//   4    used | character 1 of the token | the last 2 characters | kind (3 bits)
//   5    characters 2 to 6: with character 1 the key id
//   6    verdict, and for what does not count the quarter of an hour
// Characters are base64url; the last 22 are the 16-byte tag, which no two tokens of one key share.

const wordsPerEntry = 7
const usedBit = 1 << 30

/** The words above, which tell an event apart from every other. */
export type RepeatWords = Int32Array

const sextets = new Uint8Array(128)
for (const [index, char] of Array.from(
  'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
).entries()) {
  sextets[char.charCodeAt(0)] = index
}

interface RepeatParts {
  /** At least 29 characters of base64url: a token is never shorter than 60. */
  readonly token: string
  /** 0 to 7. */
  readonly kind: number
  readonly outcome: number
}

export function writeRepeatWords(words: RepeatWords, parts: RepeatParts): void {
  const { token, kind, outcome } = parts
  const tag = token.length - 22
  for (let word = 0; word < 4; word++) words[word] = pack(token, tag + 5 * word, 5)
  words[4] = usedBit | (pack(token, 1, 1) << 15) | (pack(token, tag + 20, 2) << 3) | kind
  words[5] = pack(token, 2, 5)
  words[6] = outcome
}

export function createRepeatWords(): RepeatWords {
  return new Int32Array(wordsPerEntry)
}

function pack(text: string, start: number, count: number): number {
  let bits = 0
  for (let at = start; at < start + count; at++) {
    bits = (bits << 6) | (sextets[text.charCodeAt(at) & 127] ?? 0)
  }
  return bits
}

/**
 * A set of entries in one typed array. A `Set` of strings took 8 µs an event, mostly for garbage collection
 * and cache misses; this takes less than 1 µs and never allocates.
 */
export class RepeatTable {
  readonly #slotMask: number
  readonly #entries: Int32Array
  #size = 0

  /** `slots` is a power of two, and more than the entries that will be added. */
  constructor(slots: number) {
    this.#slotMask = slots - 1
    this.#entries = new Int32Array(slots * wordsPerEntry)
  }

  get size(): number {
    return this.#size
  }

  has(words: RepeatWords): boolean {
    return this.#isUsed(this.#find(words))
  }

  add(words: RepeatWords): void {
    const at = this.#find(words)
    if (this.#isUsed(at)) return
    this.#entries.set(words, at)
    this.#size += 1
  }

  clear(): void {
    if (this.#size > 0) this.#entries.fill(0)
    this.#size = 0
  }

  /** Where the entry is, or the free place where it belongs. */
  #find(words: RepeatWords): number {
    // The tag is as good as random; the rest is mixed in because one token comes with several kinds.
    let slot = ((words[0] ?? 0) + Math.imul((words[6] ?? 0) + (words[4] ?? 0), 0x9e3779b1)) >>> 0
    slot ^= slot >>> 15
    for (;;) {
      const at = (slot & this.#slotMask) * wordsPerEntry
      if (!this.#isUsed(at) || this.#equals(at, words)) return at
      slot += 1
    }
  }

  #isUsed(at: number): boolean {
    return this.#entries[at + 4] !== 0
  }

  #equals(at: number, words: RepeatWords): boolean {
    for (let word = 0; word < wordsPerEntry; word++) {
      if (this.#entries[at + word] !== words[word]) return false
    }
    return true
  }
}
