import { useEffect, useState } from 'preact/hooks'
import { addDays } from '../../../src/domain/day.ts'
import { usePlace } from '../router.ts'
import {
  hasUnusablePeriod,
  isPeriod,
  lastDays,
  profileNames,
  profiles,
  type View,
} from '../view.ts'

interface PeriodBarProps {
  readonly view: View
  readonly today: string
  readonly currencies: readonly string[]
  readonly currency: string
  readonly onChange: (changes: Readonly<Record<string, string | null>>) => void
}

/** Chooses the days, the attribution profile and the currency, on which every figure of a page depends. */
export function PeriodBar({ view, today, currencies, currency, onChange }: PeriodBarProps) {
  return (
    <div class="bar">
      <Period view={view} today={today} onChange={onChange} />
      <label>
        <span>Attribution</span>
        <select
          value={view.profile}
          onChange={(event) => onChange({ profile: event.currentTarget.value, page: null })}
        >
          {profiles.map((profile) => (
            <option key={profile} value={profile}>
              {profileNames[profile]}
            </option>
          ))}
        </select>
      </label>
      {currencies.length > 1 && (
        <label>
          <span>Currency</span>
          <select
            value={currency}
            onChange={(event) => onChange({ currency: event.currentTarget.value })}
          >
            {currencies.map((code) => (
              <option key={code} value={code}>
                {code === '' ? 'unknown' : code}
              </option>
            ))}
          </select>
        </label>
      )}
    </div>
  )
}

type PeriodProps = Pick<PeriodBarProps, 'view' | 'today' | 'onChange'>

function Period({ view, today, onChange }: PeriodProps) {
  const { query } = usePlace()
  const [entered, setEntered] = useState({ startDate: view.startDate, endDate: view.endDate })
  useEffect(() => {
    setEntered({ startDate: view.startDate, endDate: view.endDate })
  }, [view.startDate, view.endDate])
  const use = (period: { readonly startDate: string; readonly endDate: string }) => {
    setEntered(period)
    if (!isPeriod(period.startDate, period.endDate)) return
    onChange({ from: period.startDate, to: period.endDate, page: null })
  }
  const isPossible = isPeriod(entered.startDate, entered.endDate)
  const presets = listPresets(today)
  const preset = presets.find(
    (one) => one.startDate === view.startDate && one.endDate === view.endDate
  )
  return (
    <>
      <label>
        <span>Period</span>
        <select
          value={preset?.label ?? ''}
          onChange={(event) => {
            const chosen = presets.find(({ label }) => label === event.currentTarget.value)
            if (chosen !== undefined) use(chosen)
          }}
        >
          {preset === undefined && <option value="">Chosen days</option>}
          {presets.map(({ label }) => (
            <option key={label} value={label}>
              {label}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span>From</span>
        <input
          type="date"
          value={entered.startDate}
          aria-invalid={!isPossible}
          onChange={(event) => use({ ...entered, startDate: event.currentTarget.value })}
        />
      </label>
      <label>
        <span>To</span>
        <input
          type="date"
          value={entered.endDate}
          aria-invalid={!isPossible}
          onChange={(event) => use({ ...entered, endDate: event.currentTarget.value })}
        />
      </label>
      {hasUnusablePeriod(query) && (
        <p class="problem" role="status">
          The address names days that cannot be shown: a first day after the last one, or more than
          731 days. These are the last 28 days.
        </p>
      )}
      {!isPossible && (
        <p class="problem" role="alert">
          Choose a first day that is not after the last one, and at most 731 days.
        </p>
      )}
    </>
  )
}

function listPresets(today: string) {
  const monthStart = `${today.slice(0, 8)}01`
  const lastOfMonthBefore = addDays(monthStart, -1)
  return [
    { label: 'Today', startDate: today, endDate: today },
    { label: 'Last 7 days', ...lastDays(7, today) },
    { label: 'Last 28 days', ...lastDays(28, today) },
    { label: 'Last 90 days', ...lastDays(90, today) },
    { label: 'This month', startDate: monthStart, endDate: today },
    {
      label: 'Last month',
      startDate: `${lastOfMonthBefore.slice(0, 8)}01`,
      endDate: lastOfMonthBefore,
    },
    { label: 'Last 400 days', ...lastDays(400, today) },
  ]
}
