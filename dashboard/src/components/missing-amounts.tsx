import { t } from '../language.ts'
import { Warning } from './notices.tsx'

/** Said wherever amounts are added up: without them the sums look right and are too low. */
export function MissingAmounts({ count }: { readonly count: number }) {
  if (count === 0) return null
  return (
    <Warning>
      {t(
        '{{count}} amounts are missing from these figures: there is no exchange rate for them yet.',
        { count }
      )}
    </Warning>
  )
}
