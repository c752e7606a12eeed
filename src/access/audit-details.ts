// The details of audit records are bounded, because records are kept for good and callers choose names and
// lists. What does not fit is counted or named, never dropped without a word.

/** Of the JSON text, in characters. */
export const detailsLengthMax = 20_000

/** Leaves room for what else is in the details. */
export const changesLengthMax = 16_000

/** How much of a list that does not fit is kept. */
const listKeptMax = 100

export interface ShownChanges<Change> {
  readonly changes: readonly Change[]
  /** How many changes are not listed; absent if all are. */
  readonly changesLeftOut?: number
}

/**
 * As many changes from the front as a record may hold, and how many there are besides. `count` is how many
 * there are in all, if the list is not all of them.
 */
export function showChanges<Change extends object>(
  all: readonly Change[],
  count: number = all.length
): ShownChanges<Change> {
  const changes: Change[] = []
  let length = 0
  for (const change of all) {
    length += JSON.stringify(change).length + 1
    if (length > changesLengthMax) break
    changes.push(change)
  }
  const changesLeftOut = count - changes.length
  return { changes, ...(changesLeftOut > 0 && { changesLeftOut }) }
}

type Details = Readonly<Record<string, unknown>>

/**
 * The JSON text of the details. If it is too long, lists are cut to their first entries and other long
 * fields are left out, the longest first; `leftOut` names them.
 */
export function printDetails(details: Details): string {
  let text = JSON.stringify(details)
  let fitting = details
  const leftOut: string[] = []
  while (text.length > detailsLengthMax) {
    const name = longestOf(fitting)
    const { [name]: value, ...rest } = fitting
    leftOut.push(name)
    const isList = Array.isArray(value) && value.length > listKeptMax
    fitting = isList ? { ...rest, [name]: value.slice(0, listKeptMax) } : rest
    text = JSON.stringify({ ...fitting, leftOut: [...new Set(leftOut)] })
  }
  return text
}

function longestOf(details: Details): string {
  const lengths = Object.entries(details).map(([name, value]): readonly [string, number] => [
    name,
    JSON.stringify(value)?.length ?? 0,
  ])
  return lengths.toSorted((one, other) => other[1] - one[1])[0]?.[0] ?? ''
}
