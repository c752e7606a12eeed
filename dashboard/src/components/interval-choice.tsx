import { intervals, type Interval } from '../../../src/domain/interval.ts'
import type { View } from '../view.ts'
import { t } from '../language.ts'

const labels: Readonly<Record<Interval, string>> = {
  DAY: t('Day'),
  WEEK: t('Week'),
  MONTH: t('Month'),
}

interface IntervalChoiceProps {
  readonly view: View
  readonly onChange: (changes: Readonly<Record<string, string | null>>) => void
}

/** What a point of the chart stands for. */
export function IntervalChoice({ view, onChange }: IntervalChoiceProps) {
  return (
    <div class="segments" role="group" aria-label={t('By day, week or month')}>
      {intervals.map((interval) => (
        <button
          key={interval}
          type="button"
          aria-pressed={view.interval === interval}
          onClick={() => onChange({ by: interval.toLowerCase() })}
        >
          {labels[interval]}
        </button>
      ))}
    </div>
  )
}
