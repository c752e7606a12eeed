import type { ComponentChildren } from 'preact'
import { noteRecent } from '../advertisers.ts'
import { noBaseWords } from '../comparison-base.ts'
import { formatChange, formatCount, formatMoney, formatRatio, nothing } from '../format.ts'
import { t } from '../language.ts'
import {
  sumRows,
  type BrandRow,
  type FigureName,
  type Figures,
  type Sign,
} from '../overview-rows.ts'
import { addressOf, withQuery } from '../router.ts'
import type { ShownCurrency } from '../shown-currency.ts'
import { carriedOn } from '../view.ts'
import { ChangeMark } from './change-mark.tsx'
import { Figure } from './figure.tsx'
import { MissingAmounts } from './missing-amounts.tsx'
import { OriginalAmounts } from './original-amounts.tsx'
import { Sparkline } from './sparkline.tsx'
import { Table, type Sorting, type TableColumn } from './table.tsx'

interface OverviewTableProps {
  /** Of all pages: what is added up. */
  readonly rows: readonly BrandRow[]
  /** Of the page. */
  readonly listed: readonly BrandRow[]
  readonly shown: ShownCurrency
  readonly query: URLSearchParams
  readonly sorting: Sorting
}

const labels: Readonly<Record<FigureName, string>> = {
  AD_SPEND_REVENUE: t('Spend'),
  CONVERSION_VALUE: t('Value'),
  RETURN_ON_AD_SPEND: t('ROAS'),
  ORDERS: t('Orders'),
  CLICKS: t('Clicks'),
  IMPRESSIONS: t('Impressions'),
}

export function OverviewTable({ rows, listed, shown, query, sorting }: OverviewTableProps) {
  const totals = totalsOf(rows, shown)
  const figure = (name: FigureName): TableColumn<BrandRow> => ({
    name,
    label: labels[name],
    term: name,
    isFigure: true,
    cell: ({ total }) => <FigureOf {...{ total, name, shown }} />,
  })
  const columns: readonly TableColumn<BrandRow>[] = [
    {
      name: 'NAME',
      label: t('Advertiser'),
      cell: (row) =>
        row === totals ? (
          t('Total ({{rows}})', { rows: rows.length })
        ) : (
          <Name {...{ row, query }} />
        ),
    },
    figure('AD_SPEND_REVENUE'),
    figure('CONVERSION_VALUE'),
    figure('RETURN_ON_AD_SPEND'),
    figure('ORDERS'),
    {
      name: 'CHANGE',
      label: t('Value, change'),
      isFigure: true,
      cell: (row) => (row === totals ? '' : <Change row={row} />),
    },
    {
      name: 'TREND',
      label: t('Value, 28 days'),
      cell: ({ trend }) => <Sparkline values={trend} />,
    },
    { name: 'SIGNS', label: t('To look at'), cell: ({ signs }) => <Signs signs={signs} /> },
    figure('CLICKS'),
    figure('IMPRESSIONS'),
    {
      name: 'OTHERS',
      label: shown.isConverted ? t('Converted from') : t('Other currencies'),
      cell: ({ others, withoutRate }) => <OriginalAmounts {...{ others, withoutRate }} />,
    },
  ]
  return (
    <>
      {shown.isConverted && (
        <p class="footnote">
          {t(
            'Amounts are converted at the reference rate of each day (≈). What has no rate is not in them and stands beside them.'
          )}
        </p>
      )}
      <MissingAmounts count={unconvertedOf(rows)} />
      <Table<BrandRow>
        caption={t('Advertisers')}
        columns={hasOthers(rows) ? columns : columns.slice(0, -1)}
        rows={listed}
        totals={totals}
        keyOf={({ id }) => String(id)}
        sorting={sorting}
      />
    </>
  )
}

function hasOthers(rows: readonly BrandRow[]): boolean {
  return rows.some(({ others }) => others.length > 0)
}

/** A row of the sums; none where there is nothing to add up. */
function totalsOf(rows: readonly BrandRow[], { code }: ShownCurrency): BrandRow | undefined {
  const total = sumRows(rows, code)
  if (total === null) return undefined
  const trend = rows
    .map((row) => row.trend)
    .reduce((sums, own) => sums.map((sum, day) => sum + (own[day] ?? 0)))
  const withoutRate = rows.flatMap((row) => row.withoutRate)
  const unconverted = unconvertedOf(rows)
  return {
    id: 0,
    name: '',
    total,
    trend,
    change: null,
    reason: null,
    signs: [],
    others: [],
    withoutRate,
    unconverted,
  }
}

function unconvertedOf(rows: readonly BrandRow[]): number {
  return rows.reduce((sum, { unconverted }) => sum + unconverted, 0)
}

/** The page shows the same figures as the row; of one without any it chooses the currency itself. */
function Name({ row, query }: { readonly row: BrandRow; readonly query: URLSearchParams }) {
  const kept = row.total === null ? withQuery(query, { currency: null }) : query
  return (
    <a
      href={addressOf(['advertisers', row.id, 'performance'], carriedOn(kept))}
      onClick={() => noteRecent(row.id)}
    >
      <bdi>{row.name}</bdi>
    </a>
  )
}

interface FigureOfProps {
  readonly total: Figures | null
  readonly name: FigureName
  readonly shown: ShownCurrency
}

function FigureOf({ total, name, shown }: FigureOfProps): ComponentChildren {
  const value = total?.[name]
  if (name === 'AD_SPEND_REVENUE' || name === 'CONVERSION_VALUE') {
    const money = formatMoney(value, total?.CURRENCY)
    const isAbout = shown.isConverted && money !== nothing
    return <Figure exact={value} shown={isAbout ? `≈ ${money}` : money} />
  }
  const print = name === 'RETURN_ON_AD_SPEND' ? formatRatio : formatCount
  return <Figure exact={value} shown={print(value)} />
}

function Change({ row: { change, reason } }: { readonly row: BrandRow }) {
  if (reason !== null) return <span class="muted">{noBaseWords[reason]}</span>
  return change === null ? <>{nothing}</> : <ChangeMark change={change} />
}

function Signs({ signs }: { readonly signs: readonly Sign[] }) {
  return (
    <>
      {signs.map((sign) => (
        <span key={sign.kind} class="sign">
          {wordsOf(sign)}
        </span>
      ))}
    </>
  )
}

function wordsOf(sign: Sign): string {
  if (sign.kind === 'never') return t('No events yet')
  if (sign.kind === 'unconverted')
    return t('{{count}} amounts without a rate', { count: sign.count })
  if (sign.kind === 'roas') return t('ROAS {{change}}', { change: formatChange(sign.change) })
  return sign.isAtLeast
    ? t('No events for {{count}} days or more', { count: sign.days })
    : t('No events for {{count}} days', { count: sign.days })
}
