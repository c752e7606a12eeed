/**
 * The known word that is closest to what was typed, or null if none is close enough: in characters that differ, two
 * neighbours that are swapped counted as one.
 */
export function suggest(
  typed: string,
  known: readonly string[],
  distanceMax = Math.max(2, Math.floor(typed.length / 3))
): string | null {
  const ranked = known
    .map((word) => ({ word, distance: editDistance(typed, word) }))
    .toSorted((one, other) => one.distance - other.distance)
  const [best] = ranked
  return best !== undefined && best.distance <= distanceMax ? best.word : null
}

function editDistance(one: string, other: string): number {
  let beforeAbove: readonly number[] = []
  let above = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (let row = 1; row <= one.length; row += 1) {
    const line = [row]
    for (let column = 1; column <= other.length; column += 1) {
      const cost = one[row - 1] === other[column - 1] ? 0 : 1
      const changed = (above[column - 1] ?? 0) + cost
      const isSwapped = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1]
      const swapped = isSwapped ? (beforeAbove[column - 2] ?? Infinity) + 1 : Infinity
      const [removed, added] = [(above[column] ?? 0) + 1, (line[column - 1] ?? 0) + 1]
      line.push(Math.min(changed, removed, added, swapped))
    }
    beforeAbove = above
    above = line
  }
  return above[other.length] ?? 0
}
