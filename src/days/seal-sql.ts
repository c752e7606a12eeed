// The columns of the rollups.

import { profilePrefix, profiles } from './day-rows.ts'

/** What a rollup holds beside its dimensions. */
export const figureColumns: readonly string[] = [
  'loads',
  'impressions',
  'clicks',
  'spend',
  'spend_unconverted',
  ...profiles.flatMap((profile) =>
    ['gtin', 'conversions', 'units', 'value', 'unconverted', 'orders'].map(
      (name) => `${profilePrefix[profile]}_${name}`
    )
  ),
  'foreign_amounts',
]
