// Rows of the warehouse on their way to a reader: pulled in blocks, let go when the reader leaves, and
// never taken for whole when they are not.

/** A row as the engine gives it: its columns in order. */
export type Values = readonly unknown[]

export interface OpenedBlocks {
  /** Null: there are no rows. */
  readonly first: readonly Values[] | null
  readonly rest: AsyncIterator<readonly Values[]>
}

/** Resolves with the first rows, so that a refusal of the engine can still be a proper answer. */
export async function openBlocks(
  stream: AsyncIterable<readonly Values[]>,
  signal: AbortSignal
): Promise<OpenedBlocks> {
  const rest = stream[Symbol.asyncIterator]()
  // A caller who leaves before reading on would hold the session for ever.
  const release = (): void => void rest.return?.()?.catch(() => undefined)
  signal.addEventListener('abort', release, { once: true })
  const first = await rest.next()
  return { first: first.done === true ? null : first.value, rest }
}

/**
 * The blocks from the first to the last of `rowCount` rows. Not a generator: one that nobody has begun to
 * read cannot be told to stop, and the session of the warehouse behind it would never come free.
 */
export function wholeBlocks(
  first: readonly Values[],
  rest: AsyncIterator<readonly Values[]>,
  rowCount: number
): AsyncIterableIterator<readonly Values[]> {
  let isFirst = true
  let readCount = first.length
  return {
    [Symbol.asyncIterator]() {
      return this
    },
    async next() {
      if (isFirst) {
        isFirst = false
        return { done: false, value: first }
      }
      const next = await rest.next()
      if (next.done === true) {
        // A stream that was let go ends early without a word; what it gave must never look whole.
        if (readCount !== rowCount) throw new Error('the report ended before its last row')
        return { done: true, value: undefined }
      }
      readCount += next.value.length
      return { done: false, value: next.value }
    },
    async return() {
      await rest.return?.()
      return { done: true, value: undefined }
    },
  }
}

/** The same blocks with each row formatted. */
export function formatBlocks<Row>(
  blocks: AsyncIterable<readonly Values[]>,
  format: (values: Values) => Row
): AsyncIterableIterator<readonly Row[]> {
  const source = blocks[Symbol.asyncIterator]()
  return {
    [Symbol.asyncIterator]() {
      return this
    },
    async next() {
      const next = await source.next()
      if (next.done === true) return { done: true, value: undefined }
      return { done: false, value: next.value.map(format) }
    },
    async return() {
      await source.return?.()
      return { done: true, value: undefined }
    },
  }
}

export async function* noBlocks(): AsyncGenerator<never> {
  // A page without rows has no block.
}
