import type { ComponentProps } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { problemOfDays } from '../bases.ts'
import { t } from '../language.ts'
import { isPeriod, type Days, type MarketDays } from '../periods.ts'
import type { View } from '../view.ts'
import type { Calendar } from './calendar.tsx'
import { TypedDays } from './typed-days.tsx'

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
  return (
    <>
      <div class="bar">
        <TypedDays
          days={view}
          labels={[t('From'), t('To')]}
          problemOf={({ startDate, endDate }) =>
            isPeriod(startDate, endDate) ? null : problemOfDays()
          }
          onChoose={onChoose}
        />
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
