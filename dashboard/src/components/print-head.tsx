import { useMemo } from 'preact/hooks'
import type { AdvertiserAccount } from '../../../src/contract/me.ts'
import { formatInstant, formatRange } from '../format.ts'
import { filterKinds, filterNames, type FilterName } from '../groups.ts'
import { periodLabels } from '../periods.ts'
import { usePlace } from '../router.ts'
import { currencyLabel } from '../shown-currency.ts'
import { profileNames, type View } from '../view.ts'
import { nameOfValue } from './crumbs.tsx'
import { t } from '../language.ts'

interface PrintHeadProps {
  readonly view: View
  readonly account: AdvertiserAccount | undefined
  readonly currency: string
}

/** What was asked, for paper: there the controls that say it are left out. */
export function PrintHead({ view, account, currency }: PrintHeadProps) {
  const { path, query } = usePlace()
  const asked = `${path.join('/')}?${query}`
  const asOf = useMemo(() => new Date().toISOString(), [asked])
  const period = view.period === null ? '' : `${periodLabels[view.period]}: `
  const filters = filterNames.filter((name) => view.filters[name].length > 0)
  const namesOf = (name: FilterName) =>
    view.filters[name].map((value) =>
      account === undefined ? value : nameOfValue(name, value, account)
    )
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
              .map((name) => `${filterKinds[name].label} “${namesOf(name).join(', ')}”`)
              .join(', '),
          })}
        </p>
      )}
      <p>{t('As of {{time}}', { time: formatInstant(asOf) })}</p>
    </div>
  )
}
