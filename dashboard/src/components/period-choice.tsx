import { useState } from 'preact/hooks'
import { formatRange } from '../format.ts'
import {
  isPeriod,
  movePeriod,
  openPeriods,
  periodLabels,
  periodNames,
  type Days,
  type MarketDays,
} from '../periods.ts'
import { usePlace } from '../router.ts'
import { hasUnusablePeriod, type View } from '../view.ts'
import { ChosenDays } from './chosen-days.tsx'
import { Popup } from './popup.tsx'
import { t } from '../language.ts'

type Changes = Readonly<Record<string, string | null>>

interface PeriodChoiceProps {
  readonly view: View
  readonly market: MarketDays
  /** The first day with figures; null where that is not known. */
  readonly firstDay: string | null
  readonly onChange: (changes: Changes) => void
}

/** Days are shown as they are, a period by name as its name: the address of a name moves on with the days. */
export function PeriodChoice({ view, market, firstDay, onChange }: PeriodChoiceProps) {
  const [isOpen, setIsOpen] = useState(false)
  const { query } = usePlace()
  const label = view.period === null ? t('Chosen days') : periodLabels[view.period]
  const days = formatRange(view.startDate, view.endDate)
  const [before, after] = [movedDays(view, -1), movedDays(view, 1)]
  return (
    <>
      <div class="period" role="group" aria-label={t('Period')}>
        <button
          type="button"
          aria-label={t('Earlier period')}
          disabled={before === null}
          onClick={() => before !== null && onChange(daysChange(before))}
        >
          ←
        </button>
        <Popup
          class="period-choice"
          onToggle={setIsOpen}
          summary={
            <>
              {label} <span class="muted">{days}</span>
            </>
          }
        >
          <div class="popup">
            <NamedPeriods view={view} onChange={onChange} />
            <ChosenDays
              {...{ view, market, firstDay, isOpen }}
              onChoose={(chosen) => onChange(daysChange(chosen))}
            />
            <p class="footnote">
              {t(
                'Days are those of each market’s own time. While the focus is in this bar: D, W, M and Y show today, the week, month and year to date, ← and → the period before and after, X turns the comparison on and off.'
              )}
            </p>
          </div>
        </Popup>
        <button
          type="button"
          aria-label={t('Later period')}
          disabled={after === null || after.startDate > market.newest}
          onClick={() => after !== null && onChange(daysChange(after))}
        >
          →
        </button>
      </div>
      {hasUnusablePeriod(query) && (
        <p class="problem" role="status">
          {t(
            'The address names days that cannot be shown: a first day after the last one, more than 731 days, or a period that does not exist. These are the last 28 days.'
          )}
        </p>
      )}
    </>
  )
}

/** Null beyond the days that can be shown. */
export function movedDays(view: View, direction: -1 | 1): Days | null {
  const moved = movePeriod(view, view.period, direction)
  return isPeriod(moved.startDate, moved.endDate) ? moved : null
}

export function daysChange({ startDate, endDate }: Days): Changes {
  return { from: startDate, to: endDate, period: null, today: null, page: null }
}

export function periodChange(name: string): Changes {
  return { period: name, from: null, to: null, page: null }
}

type PartProps = Pick<PeriodChoiceProps, 'view' | 'onChange'>

function NamedPeriods({ view, onChange }: PartProps) {
  const mayInclude = openPeriods.has(view.period)
  return (
    <>
      <ul class="period-names">
        {periodNames.map((name) => (
          <li key={name}>
            <button
              type="button"
              aria-pressed={view.period === name}
              onClick={() => onChange(periodChange(name))}
            >
              {periodLabels[name]}
            </button>
          </li>
        ))}
      </ul>
      <label class="switch">
        <input
          type="checkbox"
          checked={mayInclude && view.includesToday}
          disabled={!mayInclude}
          onChange={(event) =>
            onChange({ today: event.currentTarget.checked ? 'included' : null, page: null })
          }
        />
        {t('Include days that are not over yet')}
      </label>
    </>
  )
}
