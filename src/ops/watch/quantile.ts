/**
 * The value below which a share of the observations lies, as Prometheus estimates it: evenly spread inside a bucket,
 * and the greatest bound for what is beyond it. Null without observations.
 *
 * `buckets` are counts, each observation in one; the last bucket holds what is above the last bound.
 */
export function quantileOf(
  share: number,
  { buckets, bounds }: { readonly buckets: readonly number[]; readonly bounds: readonly number[] }
): number | null {
  const total = buckets.reduce((sum, count) => sum + count, 0)
  if (total === 0) return null
  const wanted = share * total
  let below = 0
  for (const [index, bound] of bounds.entries()) {
    const count = buckets[index] ?? 0
    if (below + count >= wanted && count > 0) {
      const from = bounds[index - 1] ?? 0
      return from + ((bound - from) * (wanted - below)) / count
    }
    below += count
  }
  return bounds.at(-1) ?? null
}

/** Bucket by bucket. */
export function sumBuckets(rows: readonly (readonly number[])[]): readonly number[] {
  return rows.reduce<number[]>(
    (sums, row) => row.map((count, index) => count + (sums[index] ?? 0)),
    []
  )
}
