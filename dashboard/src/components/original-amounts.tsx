import { formatMoney } from '../format.ts'
import type { OriginalAmounts } from '../group-rows.ts'
import { t } from '../language.ts'

interface OriginalAmountsProps {
  readonly others: readonly OriginalAmounts[]
  readonly withoutRate: readonly OriginalAmounts[]
}

/** Spend and value in their own currencies. */
export function OriginalAmounts({ others, withoutRate }: OriginalAmountsProps) {
  const without = new Set(withoutRate.map(({ CURRENCY }) => CURRENCY))
  return (
    <>
      {others.map(({ CURRENCY, AD_SPEND_REVENUE, CONVERSION_VALUE }) => (
        <span key={CURRENCY} class="other">
          {t('{{spend}} spent, {{value}} sold', {
            spend: formatMoney(AD_SPEND_REVENUE, CURRENCY),
            value: formatMoney(CONVERSION_VALUE, CURRENCY),
          })}
          {without.has(CURRENCY) && <strong> {t('not all days have a rate')}</strong>}
        </span>
      ))}
    </>
  )
}
