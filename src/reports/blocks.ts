// Rows of the warehouse on their way to a reader: pulled in blocks, let go when the reader leaves, and
// never taken for whole when they are not.

type Values = readonly unknown[]

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
 * Not a generator: one that nobody has begun to read cannot be told to stop, and the session of the
 * warehouse behind it would never come free.
 */
export function formatBlocks<Row>(
  first: readonly Values[],
  rest: AsyncIterator<readonly Values[]>,
  { format, rowCount }: { format: (row: Values) => Row; rowCount: number }
): AsyncIterableIterator<readonly Row[]> {
  let isFirst = true
  let readCount = first.length
  return {
    [Symbol.asyncIterator]() {
      return this
    },
    async next() {
      if (isFirst) {
        isFirst = false
        return { done: false, value: first.map(format) }
      }
      const next = await rest.next()
      if (next.done === true) {
        // A stream that was let go ends early without a word; what it gave must never look whole.
        if (readCount !== rowCount) throw new Error('the report ended before its last row')
        return { done: true, value: undefined }
      }
      readCount += next.value.length
      return { done: false, value: next.value.map(format) }
    },
    async return() {
      await rest.return?.()
      return { done: true, value: undefined }
    },
  }
}

export async function* noBlocks(): AsyncGenerator<never> {
  // A page without rows has no block.
}
