// The canvas can also be read with the keyboard, and there is no tag for something that is both an image and a control.
/* oxlint-disable jsx-a11y/no-noninteractive-tabindex, jsx-a11y/no-noninteractive-element-interactions */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import uPlot from 'uplot'
import { dataOf, fullRange, optionsOf, showPoint, type Drawing } from '../chart-options.ts'
import { describePoint, type ChartPoint } from '../chart-points.ts'
import { changeOf, formatChange, formatRange, type Figure as FigureText } from '../format.ts'
import { usePaper } from '../paper.ts'
import { themeChanged } from '../theme.ts'
import { Figure } from './figure.tsx'
import { t } from '../language.ts'

export interface ChartSeries {
  readonly name: string
  readonly label: string
  /** Name of a custom property of the style sheet. */
  readonly color: string
  /** Series of one scale are drawn against the same axis. */
  readonly scale: string
  /** What its axis is called: the metric, which lines of profiles share. */
  readonly axis: string
  /** Of its axis: the symbol of a currency; empty if the name says it all. */
  readonly unit: string
  readonly areCounts: boolean
  /** One value for each point, as the service gave it; null if there is none. */
  readonly values: readonly FigureText[]
  /** Of the days that the period is compared with, in their order; null if with none. */
  readonly earlier: readonly FigureText[] | null
  readonly print: (value: FigureText) => string
  readonly printAxis: (value: number) => string
}

interface TimeChartProps extends Drawing {
  readonly label: string
  readonly onUsePeriod: (startDate: string, endDate: string) => void
}

const heightPx = { usual: 280, narrow: 200 } as const
const narrowPx = 560

interface Cursor {
  readonly index: number
  readonly leftPx: number
}

/** Draws points on up to two scales. Drag to zoom, use the arrow keys to read point by point, and Escape to show all. */
export function TimeChart({ label, points, series, onUsePeriod }: TimeChartProps) {
  const frame = useRef<HTMLDivElement>(null)
  const [cursor, setCursor] = useState<Cursor | null>(null)
  const [zoom, setZoom] = useState<readonly [number, number] | null>(null)
  const plot = usePlot({ frame, points, series, onCursor: setCursor, onZoom: setZoom })
  const reset = () => plot.current?.setScale('x', fullRange(points))
  const move = (event: KeyboardEvent) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
    if (event.key === 'Escape') reset()
    if (step === undefined || plot.current === null) return
    event.preventDefault()
    const index = cursor?.index ?? (step > 0 ? -1 : points.length)
    showPoint(plot.current, Math.min(Math.max(index + step, 0), points.length - 1))
  }
  const [from, to] = zoom === null ? [] : [points[zoom[0]], points[zoom[1]]]
  return (
    <div class="chart">
      <Legend series={series} />
      <div
        ref={frame}
        class="plot"
        role="group"
        tabIndex={0}
        aria-label={`${label}. ${t('Left and right arrow keys read it point by point.')}`}
        onKeyDown={move}
      />
      <Readout points={points} series={series} cursor={cursor} />
      {from !== undefined && to !== undefined && (
        <p class="zoom">
          <span>{formatRange(from.startDate, to.endDate)}</span>
          <button type="button" onClick={() => onUsePeriod(from.startDate, to.endDate)}>
            {t('Use as period')}
          </button>
          <button type="button" onClick={reset}>
            {t('Show all')}
          </button>
        </p>
      )}
    </div>
  )
}

function Legend({ series }: Pick<Drawing, 'series'>) {
  const hasEarlier = series.some(({ earlier }) => earlier !== null)
  return (
    <ul class="legend">
      {series.map(({ name, label, color }, place) => (
        <li key={name}>
          <span class={`swatch ${color} line-${place}`} aria-hidden="true" />
          {label}
        </li>
      ))}
      {hasEarlier && (
        <li class="muted">
          <span class="swatch dotted" aria-hidden="true" />
          {t('compared with')}
        </li>
      )}
    </ul>
  )
}

interface ReadoutProps extends Drawing {
  readonly cursor: Cursor | null
}

/** Stands beside the cursor, on the side where there is room. */
function Readout({ points, series, cursor }: ReadoutProps) {
  const point: ChartPoint | undefined = points[cursor?.index ?? -1]
  const isLate = cursor !== null && cursor.index * 2 > points.length
  return (
    <div
      class={`readout ${isLate ? 'late' : ''}`}
      aria-live="polite"
      style={cursor === null ? undefined : { left: `${cursor.leftPx}px` }}
    >
      {cursor !== null && point !== undefined && (
        <>
          <p class="day">{describePoint(point)}</p>
          {series.map((one) => (
            <p key={one.name} class="entry" data-series={one.name}>
              <span class={`swatch ${one.color}`} aria-hidden="true" />
              {one.label} <Value series={one} index={cursor.index} isWhole={point.isWhole} />
            </p>
          ))}
        </>
      )}
    </div>
  )
}

interface ValueProps {
  readonly series: ChartSeries
  readonly index: number
  readonly isWhole: boolean
}

function Value({ series: { values, earlier, print }, index, isWhole }: ValueProps) {
  const [now, before] = [values[index], earlier?.[index]]
  // What is not whole is less than it will be.
  const change = isWhole ? changeOf(now, before) : null
  return (
    <>
      <Figure exact={now} shown={print(now)} />
      {before !== null && before !== undefined && (
        <span class="muted">
          {change !== null && ` ${formatChange(change)}`}{' '}
          {t('from {{value}}', { value: print(before) })}
        </span>
      )}
    </>
  )
}

interface PlotProps extends Drawing {
  readonly frame: { readonly current: HTMLDivElement | null }
  readonly onCursor: (cursor: Cursor | null) => void
  readonly onZoom: (zoom: readonly [number, number] | null) => void
}

function usePlot({ frame, points, series, onCursor, onZoom }: PlotProps) {
  const plot = useRef<uPlot | null>(null)
  const [themeCount, setThemeCount] = useState(0)
  const data = useMemo(() => dataOf({ points, series }), [points, series])
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
  const draw = () => {
    const element = frame.current
    if (element === null) return
    plot.current?.destroy()
    const size = sizeOf(element)
    const options = optionsOf({
      element,
      heightPx: size.height,
      points,
      series,
      onCursor: (index, leftPx) => onCursor(index === null ? null : { index, leftPx }),
      onZoom,
    })
    plot.current = new uPlot(options, data, element)
  }
  usePaper(draw)
  useEffect(() => {
    const element = frame.current
    if (element === null) return undefined
    draw()
    const observer = new ResizeObserver(() => plot.current?.setSize(sizeOf(element)))
    observer.observe(element)
    return () => {
      observer.disconnect()
      plot.current?.destroy()
      plot.current = null
      onZoom(null)
      onCursor(null)
    }
  }, [data, themeCount])
  return plot
}

function sizeOf(element: HTMLElement) {
  const width = element.clientWidth
  return { width, height: width < narrowPx ? heightPx.narrow : heightPx.usual }
}
