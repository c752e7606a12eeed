import { useMemo } from 'preact/hooks'
import { formatInstant, formatRange } from '../format.ts'
import type { NameOf } from '../filter-names.ts'
import { filterKinds, filterNames } from '../groups.ts'
import { periodLabels } from '../periods.ts'
import { usePlace } from '../router.ts'
import { useSession } from '../session.ts'
import { currencyLabel } from '../shown-currency.ts'
import { profileNames, type View } from '../view.ts'
import { t } from '../language.ts'

interface PrintHeadProps {
  readonly view: View
  readonly nameOf: NameOf
  readonly currency: string
}

/** What was asked, for paper: there the controls that say it are left out. */
export function PrintHead({ view, nameOf, currency }: PrintHeadProps) {
  const { path, query } = usePlace()
  const asked = `${path.join('/')}?${query}`
  const { clock } = useSession().api
  const asOf = useMemo(() => clock.now().toISOString(), [asked])
  const period = view.period === null ? '' : `${periodLabels[view.period]}: `
  const filters = filterNames.filter((name) => view.filters[name].length > 0)
  return (
    <div class="print-only">
      <p>
        {period}
        {formatRange(view.startDate, view.endDate)} ·{' '}
        {t('Attribution: {{profile}}', { profile: profileNames[view.profile] })}
        {currency !== '' &&
          ` · ${t('Currency: {{currency}}', { currency: currencyLabel(currency) })}`}
      </p>
      {filters.length > 0 && (
        <p>
          {t('Only {{filters}}', {
            filters: filters
              .map((name) => {
                const names = view.filters[name].map((value) => nameOf(name, value))
                return `${filterKinds[name].label} “${names.join(', ')}”`
              })
              .join(', '),
          })}
        </p>
      )}
      <p>{t('As of {{time}}', { time: formatInstant(asOf) })}</p>
    </div>
  )
}
