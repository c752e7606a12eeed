import { minorDigits } from '../../../src/domain/currency.ts'
import {
  divideHalfEven,
  formatAmount,
  formatDecimal,
  nanosScale,
  parseDecimal,
} from '../../../src/domain/money.ts'
import { columns, type ColumnName, type Row } from '../columns.ts'
import { Figure } from '../components/figure.tsx'
import { Empty, Stages } from '../components/notices.tsx'
import { OnMarketDay } from '../components/on-market-day.tsx'
import { PeriodBar } from '../components/period-bar.tsx'
import { Table, type TableColumn } from '../components/table.tsx'
import { nameOfProduct } from '../filter-names.ts'
import { noFilters } from '../groups.ts'
import { formatRange } from '../format.ts'
import type { AdvertiserPageProps } from '../page-table.ts'
import type { MarketDays } from '../periods.ts'
import { useBase, useOverview, useReport } from '../reports.ts'
import { latestOf } from '../loaded.ts'
import { currencyOf } from '../series-rows.ts'
import { keepingCurrency } from '../shown-currency.ts'
import { addressOf, changeQuery, type Changes } from '../router.ts'
import { parseView, questionOf } from '../view.ts'
import { FiguresOf } from './performance.tsx'
import { t } from '../language.ts'

const rowsMax = 1_000

/** One product: its totals and days, then campaign by campaign and ad group by ad group. */
export function Product({ advertiserId, query, rest }: AdvertiserPageProps) {
  return (
    <OnMarketDay advertiserId={advertiserId} title={t('Product {{gtin}}', { gtin: rest[0] ?? '' })}>
      {(market) => <ProductOn {...{ advertiserId, query, market }} gtin={rest[0] ?? ''} />}
    </OnMarketDay>
  )
}

interface ProductProps extends Pick<AdvertiserPageProps, 'advertiserId' | 'query'> {
  readonly gtin: string
  readonly market: MarketDays
}

function ProductOn({ advertiserId, query: asked, gtin, market }: ProductProps) {
  const parsed = parseView(asked, market)
  const view = { ...parsed, filters: { ...noFilters, gtin: [gtin] } }
  const overview = useOverview(advertiserId, view)
  const base = useBase(advertiserId, view)
  const report = useReport(advertiserId, {
    ...questionOf(view),
    filters: [{ field: 'GTIN', values: [gtin] }],
    orderBy: 'CAMPAIGN_NAME',
    sortType: 'ASC',
    page: 0,
    limit: rowsMax,
  })
  const rows = report.state === 'ready' ? report.value.rows : []
  const currencies = currencyOf(latestOf(overview), view.currency, market)
  const query = keepingCurrency(asked, currencies)
  const change = (changes: Changes) =>
    changeQuery(['advertisers', advertiserId, 'products', gtin], query, changes)
  const title = rows.find((row) => row['PRODUCT_TITLE'] !== '')?.['PRODUCT_TITLE']
  return (
    <>
      <p class="crumb">
        <a href={addressOf(['advertisers', advertiserId, 'performance'], query)}>
          {t('← All products')}
        </a>
      </p>
      <div class="head">
        <h1>{title ?? t('Product {{gtin}}', { gtin })}</h1>
        <p class="muted">
          <span class="code">{gtin}</span> · {formatRange(view.startDate, view.endDate)}
        </p>
      </div>
      <PeriodBar
        view={view}
        nameOf={(_filter, value) => nameOfProduct(value, rows)}
        market={market}
        firstDay={overview.state === 'ready' ? overview.value.firstDay : null}
        currencies={currencies.choices}
        currency={currencies.choice ?? ''}
        onChange={change}
      />
      <FiguresOf {...{ advertiserId, view, query, change, market, overview, base }} />
      <section class="card" aria-label={t('Campaigns and ad groups')}>
        <h2>{t('Campaigns and ad groups')}</h2>
        <Stages loaded={report} what={t('the campaigns')}>
          {(value) => <Campaigns rows={value.rows} totalRows={value.totalRows} />}
        </Stages>
      </section>
    </>
  )
}

interface CampaignsProps {
  readonly rows: readonly Row[]
  readonly totalRows: number
}

interface Line {
  readonly row: Row
  readonly isCampaign: boolean
}

const figureColumns: readonly ColumnName[] = [
  'IMPRESSIONS',
  'CLICKS',
  'CLICK_THROUGH_RATE',
  'CONVERSIONS',
  'UNITS_SOLD',
  'AD_SPEND_REVENUE',
  'CONVERSION_VALUE',
  'RETURN_ON_AD_SPEND',
]

function Campaigns({ rows, totalRows }: CampaignsProps) {
  if (rows.length === 0) return <Empty>{t('This product has no figures in this period.')}</Empty>
  const lineColumns: readonly TableColumn<Line>[] = [
    {
      name: 'NAME',
      label: t('Campaign and ad group'),
      cell: ({ row, isCampaign }) =>
        isCampaign ? (
          <strong>{nameOf(row, 'CAMPAIGN')}</strong>
        ) : (
          <span class="indented">{nameOf(row, 'AD_GROUP')}</span>
        ),
    },
    { name: 'MARKET', label: t('Market'), term: 'MARKET', cell: ({ row }) => row['MARKET'] },
    {
      name: 'PUBLISHER_NAME',
      label: t('Publisher'),
      term: 'PUBLISHER_NAME',
      cell: ({ row }) => row['PUBLISHER_NAME'],
    },
    ...figureColumns.map((name) => ({
      name,
      label: columns[name].label,
      term: name,
      isFigure: true,
      cell: ({ row }: Line) => <Figure exact={row[name]} shown={columns[name].print(row)} />,
    })),
  ]
  return (
    <>
      <Table
        caption={t('Figures of the product by campaign and ad group')}
        columns={lineColumns}
        rows={listLines(rows)}
        keyOf={(_line, index) => String(index)}
      />
      {totalRows > rows.length && (
        <p class="footnote">
          {t('The first {{shown}} of {{total}} rows.', { shown: rows.length, total: totalRows })}
        </p>
      )}
    </>
  )
}

function nameOf(row: Row, kind: 'CAMPAIGN' | 'AD_GROUP'): string {
  const name = row[`${kind}_NAME`] ?? ''
  return name === '' ? `${row[`${kind}_ID`]}` : name
}

/** Each campaign with its sum, by currency, and below it its rows. */
function listLines(rows: readonly Row[]): readonly Line[] {
  const groups = Map.groupBy(rows, (row) => `${row['CAMPAIGN_ID']} ${row['CURRENCY']}`)
  return [...groups.values()].flatMap((group) => linesOf(group))
}

function linesOf(group: readonly Row[]): readonly Line[] {
  const adGroups = group.map((row) => ({ row, isCampaign: false }))
  return [{ row: sumOf(group), isCampaign: true }, ...adGroups]
}

/**
 * Sums rows as the service sums a report: amounts exactly, ratios made from the sums. Purchases of several rows
 * may be the same.
 */
function sumOf(rows: readonly Row[]): Row {
  const currency = rows[0]?.['CURRENCY'] ?? ''
  const sum = (name: string) =>
    rows.reduce((total, row) => total + (parseDecimal(row[name] ?? '0', nanosScale) ?? 0n), 0n)
  const count = (name: string) => formatDecimal(sum(name), nanosScale, 0)
  const money = (name: string) => formatAmount(sum(name), minorDigits(currency))
  return {
    CAMPAIGN_ID: rows[0]?.['CAMPAIGN_ID'] ?? '',
    CAMPAIGN_NAME: rows[0]?.['CAMPAIGN_NAME'] ?? '',
    MARKET: '',
    PUBLISHER_NAME: '',
    CURRENCY: currency,
    IMPRESSIONS: count('IMPRESSIONS'),
    CLICKS: count('CLICKS'),
    CONVERSIONS: rows.length === 1 ? count('CONVERSIONS') : null,
    UNITS_SOLD: count('UNITS_SOLD'),
    AD_SPEND_REVENUE: money('AD_SPEND_REVENUE'),
    CONVERSION_VALUE: money('CONVERSION_VALUE'),
    CLICK_THROUGH_RATE: divideHalfEven(sum('CLICKS'), sum('IMPRESSIONS'), 6),
    RETURN_ON_AD_SPEND: divideHalfEven(sum('CONVERSION_VALUE'), sum('AD_SPEND_REVENUE'), 4),
  }
}
