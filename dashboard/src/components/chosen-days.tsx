import type { ComponentProps } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { t } from '../language.ts'
import type { Days, MarketDays } from '../periods.ts'
import { isPeriod, type View } from '../view.ts'
import type { Calendar } from './calendar.tsx'

interface ChosenDaysProps {
  readonly view: View
  readonly market: MarketDays
  readonly firstDay: string | null
  /** Whether the reader sees it: the calendar is loaded then, and not with the page. */
  readonly isOpen: boolean
  readonly onChoose: (days: Days) => void
}

/** Days as they are, typed or by the calendar. */
export function ChosenDays({ view, market, firstDay, isOpen, onChoose }: ChosenDaysProps) {
  const [entered, setEntered] = useState<Days>(view)
  useEffect(() => {
    setEntered({ startDate: view.startDate, endDate: view.endDate })
  }, [view.startDate, view.endDate])
  const use = (days: Days) => {
    setEntered(days)
    if (isPeriod(days.startDate, days.endDate)) onChoose(days)
  }
  const isPossible = isPeriod(entered.startDate, entered.endDate)
  return (
    <>
      <div class="bar">
        <label>
          <span>{t('From')}</span>
          <input
            type="date"
            value={entered.startDate}
            aria-invalid={!isPossible}
            onChange={(event) => use({ ...entered, startDate: event.currentTarget.value })}
          />
        </label>
        <label>
          <span>{t('To')}</span>
          <input
            type="date"
            value={entered.endDate}
            aria-invalid={!isPossible}
            onChange={(event) => use({ ...entered, endDate: event.currentTarget.value })}
          />
        </label>
        {!isPossible && (
          <p class="problem" role="alert">
            {t('Choose a first day that is not after the last one, and at most 731 days.')}
          </p>
        )}
      </div>
      {isOpen && <LazyCalendar {...{ firstDay, onChoose }} days={view} newest={market.newest} />}
    </>
  )
}

function LazyCalendar(props: ComponentProps<typeof Calendar>) {
  const [Loaded, setLoaded] = useState<typeof Calendar | null>(null)
  useEffect(() => {
    void import('./calendar.tsx').then(
      (module) => setLoaded(() => module.Calendar),
      // Days can be typed all the same, and the next opening tries again.
      () => null
    )
  }, [])
  return Loaded === null ? <div class="calendar to-load" /> : <Loaded {...props} />
}
