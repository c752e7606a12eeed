import { useMemo } from 'preact/hooks'
import { formatInstant, formatRange } from '../format.ts'
import { periodLabels } from '../periods.ts'
import { usePlace } from '../router.ts'
import { profileNames, type View } from '../view.ts'

interface PrintHeadProps {
  readonly view: View
  readonly currency: string
}

/** What was asked, for paper: there the controls that say it are left out. */
export function PrintHead({ view, currency }: PrintHeadProps) {
  const { path, query } = usePlace()
  const asked = `${path.join('/')}?${query}`
  const asOf = useMemo(() => new Date().toISOString(), [asked])
  const period = view.period === null ? '' : `${periodLabels[view.period]}: `
  const filters = Object.entries(view.filters).filter(([, value]) => String(value) !== '')
  return (
    <div class="print-only">
      <p>
        {period}
        {formatRange(view.startDate, view.endDate)} · Attribution: {profileNames[view.profile]}
        {currency !== '' && ` · Currency: ${currency}`}
      </p>
      {filters.length > 0 && (
        <p>Only {filters.map(([name, value]) => `${name} “${String(value)}”`).join(', ')}</p>
      )}
      <p>As of {formatInstant(asOf)}</p>
    </div>
  )
}
