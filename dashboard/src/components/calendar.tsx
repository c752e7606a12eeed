// Two months to choose the first and the last day of a period from, by mouse, finger or keys. Loaded when the choice of
// the period is opened. Days are those of markets: they have no time zone here.
import * as datePicker from '@zag-js/date-picker'
import { normalizeProps, VanillaMachine } from '@zag-js/vanilla'
import { useEffect, useId, useReducer, useRef, useState } from 'preact/hooks'
import { daysBetween } from '../../../src/domain/day.ts'
import { formatDay } from '../format.ts'
import { locale, t } from '../language.ts'
import { daysMax, firstDayEver, type Days } from '../periods.ts'

interface CalendarProps {
  readonly days: Days
  /** The newest day of the markets: no later one can be chosen. */
  readonly newest: string
  /** The first day with figures; null where that is not known. */
  readonly firstDay: string | null
  readonly onChoose: (days: Days) => void
}

export function Calendar({ days, newest, firstDay, onChoose }: CalendarProps) {
  const monthCount = useMonthCount()
  const picker = usePicker({
    id: useId(),
    inline: true,
    selectionMode: 'range',
    closeOnSelect: false,
    locale: locale(),
    numOfMonths: monthCount,
    min: datePicker.parse(firstDayEver),
    max: datePicker.parse(newest),
    defaultValue: valueOf(days),
    defaultFocusedValue: openedAt(days, newest, monthCount),
    isDateUnavailable: (date) => isTooFar(picker.value, date),
    translations: {
      content: t('Days of the period'),
      prevTrigger: () => t('Earlier months'),
      nextTrigger: () => t('Later months'),
      dayCell: (cell) => labelOf(cell, newest, firstDay),
    },
    onValueChange: ({ value: [first, last] }) => {
      if (picker.isFollowing() || first === undefined || last === undefined) return
      onChoose({ startDate: first.toString(), endDate: last.toString() })
    },
  })
  const { startDate, endDate } = days
  useEffect(() => {
    const [first, last] = picker.value.map(String)
    if (first !== startDate || last !== endDate) picker.setValue(valueOf({ startDate, endDate }))
  }, [startDate, endDate])
  // The tab key leads to the first day of the period, also where its month stands on the right.
  useEffect(() => picker.setFocusedValue(datePicker.parse(startDate)), [])
  const [first, last] = picker.value
  return (
    <div
      {...picker.getContentProps()}
      class="calendar"
      role="group"
      tabIndex={undefined}
      aria-roledescription={undefined}
    >
      <button {...picker.getPrevTriggerProps()}>←</button>
      <div class="months">
        {Array.from({ length: monthCount }, (_, months) => (
          <Month key={months} {...{ picker, months, newest, firstDay }} />
        ))}
      </div>
      <button {...picker.getNextTriggerProps()}>→</button>
      <p class="footnote" role="status">
        {first !== undefined && last === undefined
          ? t('From {{day}}: choose the last day.', { day: formatDay(first.toString()) })
          : t('Choose the first and the last day. A period has at most {{most}} days.', {
              most: daysMax,
            })}
      </p>
    </div>
  )
}

const monthFormat = { month: 'long', year: 'numeric', timeZone: 'UTC' } as const

interface MonthProps extends Pick<CalendarProps, 'newest' | 'firstDay'> {
  readonly picker: Picker
  /** After the first month that is shown. */
  readonly months: number
}

function Month({ picker, months, newest, firstDay }: MonthProps) {
  const { weeks, visibleRange } = picker.getOffset({ months })
  const id = useId()
  return (
    <table {...picker.getTableProps({ id })} aria-roledescription={undefined} aria-labelledby={id}>
      <caption id={id}>{picker.format(visibleRange.start, monthFormat)}</caption>
      <thead {...picker.getTableHeadProps()}>
        <tr>
          {picker.weekDays.map(({ value, short }) => (
            <th key={value.toString()}>{short}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {weeks.map((week) => (
          <tr key={week[0]?.toString()}>
            {week.map((value) =>
              // A day stands in its own month alone.
              value.month === visibleRange.start.month ? (
                <td
                  {...picker.getDayTableCellProps({ value, visibleRange })}
                  // The day of the reader's clock may be none of the markets.
                  aria-current={undefined}
                >
                  <button
                    {...picker.getDayTableCellTriggerProps({ value, visibleRange })}
                    type="button"
                    data-blank={hasNoFigures(value.toString(), newest, firstDay) ? '' : undefined}
                  >
                    {value.day}
                  </button>
                </td>
              ) : (
                <td key={value.toString()}>{''}</td>
              )
            )}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

type Picker = ReturnType<typeof usePicker>

/** Without `undefined`, which Zag's types do not take. */
type PickerProps = {
  readonly [Name in keyof datePicker.Props]: NonNullable<datePicker.Props[Name]>
}

/** The state machine as a hook. Zag's adapter for Preact brings preact/compat, which changes events everywhere. */
function usePicker(props: PickerProps) {
  const latest = useRef(props)
  latest.current = props
  const [machine] = useState(() => new VanillaMachine(datePicker.machine, () => latest.current))
  const [, draw] = useReducer((count: number) => count + 1, 0)
  useEffect(() => {
    machine.subscribe(() => draw(undefined))
    machine.start()
    return () => machine.stop()
  }, [machine])
  return {
    ...datePicker.connect(machine.service, normalizeProps),
    /** Whether the days are those that the page says, rather than chosen here. */
    isFollowing: () => machine.service.event['type'] === 'VALUE.SET',
  }
}

const narrow = matchMedia('(max-width: 760px)')

function useMonthCount(): number {
  const [count, setCount] = useState(narrow.matches ? 1 : 2)
  useEffect(() => {
    const change = () => setCount(narrow.matches ? 1 : 2)
    narrow.addEventListener('change', change)
    return () => narrow.removeEventListener('change', change)
  }, [])
  return count
}

function valueOf({ startDate, endDate }: Days) {
  return [datePicker.parse(startDate), datePicker.parse(endDate)]
}

/** The month of the first day stands on the left, unless there is nothing to choose right of it. */
function openedAt({ startDate }: Days, newest: string, monthCount: number) {
  const start = datePicker.parse(startDate)
  const last = datePicker.parse(newest).subtract({ months: monthCount - 1 })
  return start.compare(last) < 0 ? start : last
}

function isTooFar(value: readonly datePicker.DateValue[], date: datePicker.DateValue): boolean {
  const [first] = value
  if (first === undefined || value.length > 1) return false
  return Math.abs(daysBetween(first.toString(), date.toString())) >= daysMax
}

function hasNoFigures(day: string, newest: string, firstDay: string | null): boolean {
  return day > newest || (firstDay !== null && day < firstDay)
}

function labelOf(
  cell: datePicker.DayTableCellState & { readonly valueText: string },
  newest: string,
  firstDay: string | null
): string {
  const day = cell.value.toString()
  return [
    cell.valueText,
    cell.firstInRange ? t('first day') : '',
    cell.lastInRange ? t('last day') : '',
    hasNoFigures(day, newest, firstDay) ? t('no figures') : '',
  ]
    .filter(Boolean)
    .join(', ')
}
