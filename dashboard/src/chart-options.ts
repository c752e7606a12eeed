// How lines are drawn: what uPlot is told. Positions only; people read the texts of the service.
import uPlot from 'uplot'
import { labelledStarts, type ChartPoint } from './chart-points.ts'
import type { ChartSeries } from './components/time-chart.tsx'
import { formatMonth, formatShortDay, type Figure } from './format.ts'

export interface Drawing {
  readonly points: readonly ChartPoint[]
  readonly series: readonly ChartSeries[]
}

interface Plot extends Drawing {
  readonly element: HTMLElement
  readonly heightPx: number
  readonly onCursor: (index: number | null, leftPx: number) => void
  readonly onZoom: (zoom: readonly [number, number] | null) => void
}

const widthPx = { line: 2, earlier: 1.25 } as const
/** Lines differ by more than their colour: not everybody sees it, and some screens have none. */
const dashes = [[], [14, 3], [5, 4]] as const
const dotted = [1.5, 4]
/** What is not whole is drawn as unfinished. */
const unfinished = [4, 4]
const pointsMax = 32
const daySeconds = 86_400

export function secondsOf(day: string): number {
  return Date.parse(day) / 1_000
}

/** For each series the line of what is whole, that of what is not, and that of what it is compared with. */
export function dataOf({ points, series }: Drawing): uPlot.AlignedData {
  const isWhole = (index: number) => points[index]?.isWhole ?? true
  const touchesUnfinished = (_value: unknown, index: number) =>
    [index - 1, index, index + 1].some((place) => place in points && !isWhole(place))
  return [
    points.map(({ start }) => secondsOf(start)),
    ...series.flatMap(({ values, earlier }) => {
      const numbers = values.map(numberOf)
      return [
        numbers.map((value, index) => (isWhole(index) ? value : null)),
        numbers.map((value, index) => (touchesUnfinished(value, index) ? value : null)),
        points.map((_point, index) => numberOf(earlier?.[index])),
      ]
    }),
  ]
}

function numberOf(value: Figure): number | null {
  return value === null || value === undefined ? null : Number(value)
}

export function optionsOf(plot: Plot): uPlot.Options {
  const { element, heightPx, points, series, onCursor, onZoom } = plot
  const scales = [...new Set(series.map(({ scale }) => scale))]
  return {
    width: element.clientWidth,
    height: heightPx,
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1_000), 'UTC'),
    legend: { show: false },
    cursor: {
      drag: { x: true, y: false },
      y: false,
      points: { size: 7 },
      // The line stands on the point that is read, not beside it.
      move: (made, left, top) => [snap(made, left), top],
    },
    scales: {
      x: { time: true, range: (_plot, min, max) => rangeOf(points, [min, max]) },
      ...Object.fromEntries(scales.map((scale) => [scale, { range: fromZero }])),
    },
    axes: [timeAxis(plot), ...scales.slice(0, 2).map((scale) => valueAxis(plot, scales, scale))],
    series: [{}, ...series.flatMap((one, place) => linesOf(plot, one, place))],
    hooks: {
      setCursor: [(made) => onCursor(made.cursor.idx ?? null, cursorPx(made))],
      setScale: [(made, scale) => scale === 'x' && onZoom(zoomOf(made, points.length))],
    },
  }
}

function linesOf({ element, points }: Plot, one: ChartSeries, place: number): uPlot.Series[] {
  const stroke = resolveColor(element, one.color)
  const surface = resolveColor(element, 'surface')
  const plain = { label: one.label, scale: one.scale, stroke }
  const show = points.length < pointsMax
  return [
    {
      ...plain,
      width: widthPx.line,
      dash: [...(dashes[place] ?? [])],
      points: { show, size: 5, fill: stroke },
    },
    {
      ...plain,
      width: widthPx.line,
      dash: unfinished,
      // The whole points at its ends have their own.
      points: {
        show,
        size: 7,
        fill: surface,
        filter: (_plot, index) => (index === 0 ? [] : unfinishedPlaces(points)),
      },
    },
    { ...plain, width: widthPx.earlier, dash: dotted, points: { show: false } },
  ]
}

function unfinishedPlaces(points: readonly ChartPoint[]): number[] {
  return points.flatMap(({ isWhole }, index) => (isWhole ? [] : [index]))
}

function timeAxis({ element, points }: Plot): uPlot.Axis {
  const days = { startDate: points[0]?.start ?? '', endDate: points.at(-1)?.start ?? '' }
  const isSingle = points.length === 1
  return {
    stroke: resolveColor(element, 'text-muted'),
    grid: { show: false },
    ticks: { stroke: resolveColor(element, 'grid'), width: 1 },
    size: 34,
    splits: (made, _axis, min, max) => {
      if (isSingle) return [secondsOf(days.startDate)]
      const shown = { startDate: dayAt(Math.ceil(min)), endDate: dayAt(max) }
      return labelledStarts(shown, made.bbox.width / devicePixelRatio).map(secondsOf)
    },
    values: (_made, splits) => {
      const starts = splits.map(dayAt)
      const areMonths = starts.length > 1 && starts.every((day) => day.endsWith('-01'))
      return starts.map(areMonths ? formatMonth : formatShortDay)
    },
  }
}

function dayAt(seconds: number): string {
  return new Date(seconds * 1_000).toISOString().slice(0, 10)
}

/** Left is 3 and right is 1: the package's names for them are types without values. */
function valueAxis(plot: Plot, scales: readonly string[], scale: string): uPlot.Axis {
  const { element, series } = plot
  const own = series.filter((one) => one.scale === scale)
  const [first] = own
  const isFirst = scales[0] === scale
  // An axis of several lines has the colour of none.
  const color = own.length === 1 && first !== undefined ? first.color : 'text-muted'
  return {
    scale,
    // oxlint-disable-next-line typescript/no-unsafe-enum-assignment
    side: isFirst ? (3 as const) : (1 as const),
    stroke: resolveColor(element, color),
    label: titleOf(own),
    // Half an order is none.
    ...(first?.areCounts === true && { incrs: countSteps }),
    labelSize: 20,
    labelGap: 2,
    labelFont: '600 12px system-ui, sans-serif',
    grid: { show: isFirst, stroke: resolveColor(element, 'grid'), width: 1 },
    ticks: { show: false },
    size: 52,
    values: (_made, splits) => splits.map((value) => first?.printAxis(value) ?? ''),
  }
}

function titleOf(own: readonly ChartSeries[]): string {
  const names = [...new Set(own.map(({ axis }) => axis))].join(' · ')
  const unit = own[0]?.unit ?? ''
  return unit === '' ? names : `${names}, ${unit}`
}

const countSteps = Array.from({ length: 12 }, (_, power) =>
  [1, 2, 5].map((step) => step * 10 ** power)
).flat()

/** Lines of shares and amounts would mislead without the zero. */
function fromZero(_plot: uPlot, _min: number | null, max: number | null): uPlot.Range.MinMax {
  return [0, max === null || max <= 0 ? 1 : max * 1.05]
}

/** uPlot widens a range of one instant to years before it asks. */
function rangeOf(points: readonly ChartPoint[], zoom: uPlot.Range.MinMax): uPlot.Range.MinMax {
  if (points.length !== 1) return zoom
  const noon = secondsOf(points[0]?.start ?? '')
  return [noon - daySeconds / 2, noon + daySeconds / 2]
}

export function fullRange(points: readonly ChartPoint[]) {
  return { min: secondsOf(points[0]?.start ?? ''), max: secondsOf(points.at(-1)?.start ?? '') }
}

function snap(plot: uPlot, left: number): number {
  // Outside of the plot uPlot says -10.
  if (left < 0) return left
  const seconds = plot.data[0][plot.posToIdx(left)]
  return seconds === undefined ? left : plot.valToPos(seconds, 'x')
}

function cursorPx(plot: uPlot): number {
  return plot.bbox.left / devicePixelRatio + (plot.cursor.left ?? 0)
}

function zoomOf(plot: uPlot, count: number): readonly [number, number] | null {
  const { min, max } = plot.scales['x'] ?? {}
  if (min === undefined || max === undefined || min === null || max === null) return null
  const seconds = plot.data[0]
  const first = seconds.findIndex((at) => at >= min)
  const last = seconds.findLastIndex((at) => at <= max)
  if (first < 0 || last < first || (first === 0 && last === count - 1)) return null
  return [first, last]
}

export function showPoint(plot: uPlot, index: number): void {
  const seconds = plot.data[0][index]
  if (seconds === undefined) return
  plot.setCursor({ left: plot.valToPos(seconds, 'x'), top: 1 })
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
