import { baseOf, problemOfBase, type Base } from '../bases.ts'
import { movePeriod, type Days } from '../periods.ts'
import type { View } from '../view.ts'
import { TypedDays } from './typed-days.tsx'
import { t } from '../language.ts'

type Changes = Readonly<Record<string, string | null>>

interface BaseChoiceProps {
  readonly view: View
  readonly onChange: (changes: Changes) => void
}

const baseLabels: Readonly<Record<Base, string>> = {
  before: t('the period before'),
  'last-year': t('the same weekdays last year'),
  chosen: t('chosen days'),
  none: t('nothing'),
}

/** Chooses the days that figures are compared with. */
export function BaseChoice({ view, onChange }: BaseChoiceProps) {
  return (
    <>
      <label>
        <span>{t('Compare with')}</span>
        <select
          value={view.base}
          onChange={(event) => onChange(baseChange(view, event.currentTarget.value))}
        >
          {Object.entries(baseLabels).map(([base, label]) => (
            <option key={base} value={base}>
              {label}
            </option>
          ))}
        </select>
      </label>
      {view.base === 'chosen' && (
        <TypedDays
          days={view.baseDays ?? { startDate: '', endDate: '' }}
          labels={[t('First day compared'), t('Last day compared')]}
          problemOf={(days) => problemOfBase(view, days)}
          onChoose={(days) => onChange(daysParameters(days))}
        />
      )}
    </>
  )
}

/** The choice of days begins with those that are compared now. */
function baseChange(view: View, base: string): Changes {
  if (base !== 'chosen') {
    return { base: base === 'before' ? null : base, 'base-from': null, 'base-to': null }
  }
  return { base, ...daysParameters(baseOf(view) ?? movePeriod(view, view.period, -1)) }
}

function daysParameters({ startDate, endDate }: Days): Changes {
  return { 'base-from': startDate, 'base-to': endDate }
}

/** Off, and on again as it was if days had been chosen. */
export function baseSwitched({ base, baseDays }: View): Changes {
  if (base !== 'none') return { base: 'none' }
  return { base: baseDays === null ? null : 'chosen' }
}
