/**
 * The rows of `sealed_day` that count, whole: per unit and day the one whose reading began last, of equal
 * instants the greater revision. Whoever asks which seal counts asks this.
 */
export function latestSealsSql(condition = '1'): string {
  // Qualified, because the engine would put the column of that name below in its place.
  const latest = `max((s.read_at, s.revision, s.sealed_at, s.from_at, s.to_at, s.definition, s.rates, s.unknown_ids,
      s.rollup_version))`
  return `
  SELECT s.unit AS unit, s.day AS day, ${latest}.1 AS read_at, ${latest}.2 AS revision, ${latest}.3 AS sealed_at,
    ${latest}.4 AS from_at, ${latest}.5 AS to_at, ${latest}.6 AS definition, ${latest}.7 AS rates,
    ${latest}.8 AS unknown_ids, ${latest}.9 AS rollup_version
  FROM sealed_day AS s
  WHERE ${condition}
  GROUP BY s.unit, s.day`
}
