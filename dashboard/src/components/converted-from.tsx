import { formatList, formatMoney } from '../format.ts'
import { t } from '../language.ts'
import type { SeriesRows } from '../series-rows.ts'
import { Warning } from './notices.tsx'

/** Beside sums in one currency: what they were converted from, and what of it has no rate. */
export function ConvertedFrom({ answer }: { readonly answer: SeriesRows }) {
  const { originals, withoutRate = [] } = answer
  if (originals === undefined) return null
  return (
    <>
      <p class="footnote">
        {t('Amounts are converted (≈) at the reference rate of each day, from {{amounts}}.', {
          amounts: listAmounts(originals),
        })}
      </p>
      {withoutRate.length > 0 && (
        <Warning>
          {t('Not in these amounts, because days have no exchange rate: {{amounts}}.', {
            amounts: listAmounts(withoutRate),
          })}
        </Warning>
      )}
    </>
  )
}

function listAmounts(rows: NonNullable<SeriesRows['originals']>): string {
  return formatList(
    rows.map(({ CURRENCY, AD_SPEND_REVENUE, CONVERSION_VALUE }) =>
      t('{{spend}} spent, {{value}} sold', {
        spend: formatMoney(AD_SPEND_REVENUE, CURRENCY),
        value: formatMoney(CONVERSION_VALUE, CURRENCY),
      })
    )
  )
}
