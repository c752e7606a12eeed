import { useEffect, useState } from 'preact/hooks'
import type { Days } from '../periods.ts'

interface TypedDaysProps {
  readonly days: Days
  /** Of the fields of the first and of the last day. */
  readonly labels: readonly [string, string]
  /** Why the days cannot be used; null if they can. */
  readonly problemOf: (days: Days) => string | null
  readonly onChoose: (days: Days) => void
}

/** The first and the last day as fields. Days that cannot be used stay in them with the reason, and are not chosen. */
export function TypedDays({ days, labels, problemOf, onChoose }: TypedDaysProps) {
  const { startDate, endDate } = days
  const [entered, setEntered] = useState<Days>(days)
  useEffect(() => setEntered({ startDate, endDate }), [startDate, endDate])
  const problem = problemOf(entered)
  const use = (next: Days) => {
    setEntered(next)
    if (problemOf(next) === null) onChoose(next)
  }
  return (
    <>
      {(['startDate', 'endDate'] as const).map((name, place) => (
        <label key={name}>
          <span>{labels[place]}</span>
          <input
            type="date"
            value={entered[name]}
            aria-invalid={problem !== null}
            onChange={(event) => use({ ...entered, [name]: event.currentTarget.value })}
          />
        </label>
      ))}
      {problem !== null && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
    </>
  )
}
