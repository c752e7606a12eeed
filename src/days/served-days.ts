type DayParam = 'dayMin' | 'dayMax' | 'firstDay' | 'lastDay'

/**
 * The days on which ads were served whose events are counted on the bound days: a click counts up to a week after
 * serving, an impression or a load up to a day, and days of zones differ by one. Each kind has a term of its own,
 * because ClickHouse leaves out parts and granules only by a column that is compared with a constant. With a bound
 * that depended on the kind, a report of one open day read all of the advertiser's history.
 */
export function servedForDays(first: DayParam, last: DayParam): string {
  return `(kind = 'click' AND served_day >= {${first}:Date} - 8 OR kind != 'click' AND served_day >= {${first}:Date} - 2)
        AND served_day <= {${last}:Date} + 1`
}
