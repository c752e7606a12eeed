// The canvas can also be read with the keyboard, and there is no tag for something that is both an image and a control.
/* oxlint-disable jsx-a11y/no-noninteractive-tabindex, jsx-a11y/no-noninteractive-element-interactions */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import uPlot from 'uplot'
import { formatDay, formatShort, formatShortDay, type Figure as FigureText } from '../format.ts'
import { themeChanged } from '../theme.ts'
import { Figure } from './figure.tsx'

export interface ChartSeries {
  readonly name: string
  readonly label: string
  /** Name of a custom property of the style sheet. */
  readonly color: string
  /** Series of one scale are drawn against the same axis. */
  readonly scale: string
  /** One value for each day, as the service gave it; null if there is none. */
  readonly values: readonly FigureText[]
  readonly print: (value: FigureText) => string
}

interface TimeChartProps {
  readonly label: string
  readonly days: readonly string[]
  readonly series: readonly ChartSeries[]
  readonly onUsePeriod: (startDate: string, endDate: string) => void
}

const heightPx = 280

/** Draws days on several scales. Drag to zoom, use the arrow keys to read day by day, and Escape to show all. */
export function TimeChart({ label, days, series, onUsePeriod }: TimeChartProps) {
  const frame = useRef<HTMLDivElement>(null)
  const [index, setIndex] = useState<number | null>(null)
  const [zoom, setZoom] = useState<readonly [number, number] | null>(null)
  const plot = usePlot({ frame, days, series, onIndex: setIndex, onZoom: setZoom })
  const reset = () => plot.current?.setScale('x', fullRange(days))
  const move = (event: KeyboardEvent) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
    if (event.key === 'Escape') reset()
    if (step === undefined || plot.current === null) return
    event.preventDefault()
    showDay(plot.current, clamp((index ?? (step > 0 ? -1 : days.length)) + step, days.length - 1))
  }
  const shown = index !== null && index < days.length ? index : null
  return (
    <div class="chart">
      <Readout days={days} series={series} index={shown} />
      <div
        ref={frame}
        class="plot"
        role="group"
        tabIndex={0}
        aria-label={`${label}. Left and right arrow keys read it day by day.`}
        onKeyDown={move}
      />
      {zoom !== null && (
        <p class="zoom">
          <span>
            {formatDay(days[zoom[0]])} – {formatDay(days[zoom[1]])}
          </span>
          <button
            type="button"
            onClick={() => onUsePeriod(days[zoom[0]] ?? '', days[zoom[1]] ?? '')}
          >
            Use as period
          </button>
          <button type="button" onClick={reset}>
            Show all
          </button>
        </p>
      )}
    </div>
  )
}

interface ReadoutProps {
  readonly days: readonly string[]
  readonly series: readonly ChartSeries[]
  readonly index: number | null
}

function Readout({ days, series, index }: ReadoutProps) {
  return (
    <div class="readout" aria-live="polite">
      <span class="day">{index === null ? 'Point at a day' : formatDay(days[index])}</span>
      {series.map(({ name, label, color, values, print }) => (
        <span key={name} class="entry" data-series={name}>
          <span class={`swatch ${color}`} aria-hidden="true" />
          {label} {index !== null && <Figure exact={values[index]} shown={print(values[index])} />}
        </span>
      ))}
    </div>
  )
}

interface Plot extends Omit<ReadoutProps, 'index'> {
  readonly frame: { readonly current: HTMLDivElement | null }
  readonly onIndex: (index: number | null) => void
  readonly onZoom: (zoom: readonly [number, number] | null) => void
}

function usePlot({ frame, days, series, onIndex, onZoom }: Plot) {
  const plot = useRef<uPlot | null>(null)
  const [themeCount, setThemeCount] = useState(0)
  const data = useMemo(() => dataOf(days, series), [days, series])
  useEffect(() => {
    const redraw = () => setThemeCount((count) => count + 1)
    const system = matchMedia('(prefers-color-scheme: dark)')
    addEventListener(themeChanged, redraw)
    system.addEventListener('change', redraw)
    return () => {
      removeEventListener(themeChanged, redraw)
      system.removeEventListener('change', redraw)
    }
  }, [])
  useEffect(() => {
    const element = frame.current
    if (element === null) return undefined
    const made = new uPlot(optionsOf({ element, days, series, onIndex, onZoom }), data, element)
    plot.current = made
    const observer = new ResizeObserver(() => {
      made.setSize({ width: element.clientWidth, height: heightPx })
    })
    observer.observe(element)
    return () => {
      observer.disconnect()
      made.destroy()
      plot.current = null
      onZoom(null)
      onIndex(null)
    }
  }, [data, themeCount])
  return plot
}

/** Used for positions only: people read the texts of the service. */
function dataOf(days: readonly string[], series: readonly ChartSeries[]): uPlot.AlignedData {
  return [
    days.map((day) => Date.parse(day) / 1_000),
    ...series.map(({ values }) =>
      values.map((value) => (value === null || value === undefined ? null : Number(value)))
    ),
  ]
}

function optionsOf(plot: Omit<Plot, 'frame'> & { readonly element: HTMLElement }): uPlot.Options {
  const { element, days, series, onIndex, onZoom } = plot
  const colorOf = (name: string) => resolveColor(element, name)
  const scales = [...new Set(series.map(({ scale }) => scale))]
  const line = { stroke: colorOf('grid'), width: 1 }
  return {
    width: element.clientWidth,
    height: heightPx,
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1_000), 'UTC'),
    legend: { show: false },
    cursor: { drag: { x: true, y: false }, y: false, points: { size: 7 } },
    scales: {
      x: { time: true, range: (_plot, min, max) => rangeOf(days, [min, max]) },
      ...Object.fromEntries(scales.map((scale) => [scale, { range: fromZero }])),
    },
    axes: [
      {
        stroke: colorOf('text-muted'),
        grid: { show: false },
        ticks: line,
        space: 70,
        size: 34,
        // Parts of a day would repeat its name.
        incrs: tickDays.map((count) => count * daySeconds),
        values: (_plot, splits) => splits.map((seconds) => formatShortDay(seconds * 1_000)),
      },
      // Two axes are as many as people can read; further series are read at the pointer. Left is 3 and
      // right is 1: the package's names for them are types without values.
      // oxlint-disable-next-line typescript/no-unsafe-enum-assignment
      ...scales.slice(0, 2).map((scale, place) => ({
        scale,
        side: place === 0 ? (3 as const) : (1 as const),
        stroke: colorOf('text-muted'),
        grid: { show: place === 0, ...line },
        ticks: { show: false },
        size: 52,
        values: (_plot: uPlot, splits: number[]) => splits.map(formatShort),
      })),
    ],
    series: [
      {},
      ...series.map((one) => ({
        label: one.label,
        scale: one.scale,
        stroke: colorOf(one.color),
        width: 2,
        points: { show: days.length < 32, size: 5, fill: colorOf(one.color) },
      })),
    ],
    hooks: {
      setCursor: [(made) => onIndex(made.cursor.idx ?? null)],
      setScale: [(made, scale) => scale === 'x' && onZoom(zoomOf(made, days.length))],
    },
  }
}

/** Lines of shares and amounts would mislead without the zero. */
function fromZero(_plot: uPlot, _min: number | null, max: number | null): uPlot.Range.MinMax {
  return [0, max === null || max <= 0 ? 1 : max * 1.05]
}

const daySeconds = 86_400
const tickDays = [1, 2, 3, 7, 14, 28, 56, 91, 182, 364]

/** uPlot widens a range of one instant to years before it asks. */
function rangeOf(days: readonly string[], zoom: uPlot.Range.MinMax): uPlot.Range.MinMax {
  if (days.length !== 1) return zoom
  const noon = Date.parse(days[0] ?? '') / 1_000
  return [noon - daySeconds / 2, noon + daySeconds / 2]
}

function fullRange(days: readonly string[]) {
  const [first = '', last = ''] = [days[0], days.at(-1)]
  return { min: Date.parse(first) / 1_000, max: Date.parse(last) / 1_000 }
}

function zoomOf(plot: uPlot, dayCount: number): readonly [number, number] | null {
  const { min, max } = plot.scales['x'] ?? {}
  if (min === undefined || max === undefined || min === null || max === null) return null
  const seconds = plot.data[0]
  const first = seconds.findIndex((at) => at >= min)
  const last = seconds.findLastIndex((at) => at <= max)
  if (first < 0 || last < first || (first === 0 && last === dayCount - 1)) return null
  return [first, last]
}

function showDay(plot: uPlot, index: number): void {
  const seconds = plot.data[0][index]
  if (seconds === undefined) return
  plot.setCursor({ left: plot.valToPos(seconds, 'x'), top: 1 })
}

function clamp(value: number, max: number): number {
  return Math.min(Math.max(value, 0), max)
}

/** A canvas does not know custom properties, so the browser resolves them on an element. */
function resolveColor(element: HTMLElement, name: string): string {
  const probe = document.createElement('span')
  probe.style.color = `var(--${name})`
  element.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}
