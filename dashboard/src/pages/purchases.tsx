import { PurchaseExplanation } from '../components/own-explanation.tsx'
import { Figure } from '../components/figure.tsx'
import { Empty, Stages } from '../components/notices.tsx'
import { Pager } from '../components/pager.tsx'
import { OnMarketDay } from '../components/on-market-day.tsx'
import { PeriodBar } from '../components/period-bar.tsx'
import { Table, type TableColumn } from '../components/table.tsx'
import { readRows } from '../csv.ts'
import { formatCount, formatDay, formatDuration, formatMoney, formatRange } from '../format.ts'
import { useLoaded } from '../loaded.ts'
import type { AdvertiserPageProps } from '../page-table.ts'
import type { MarketDays } from '../periods.ts'
import { addressOf, goTo, withQuery } from '../router.ts'
import { useSession } from '../session.ts'
import { parseView, type View } from '../view.ts'
import { ruleWords } from '../words.ts'
import { t } from '../language.ts'

type Line = Readonly<Record<string, string>>

/** The lines of purchases that are credited to the advertiser, and why each of them is. */
export function Purchases({ advertiserId, query, rest }: AdvertiserPageProps) {
  const [publisherId, transactionId] = rest
  if (publisherId !== undefined && transactionId !== undefined) {
    return <PurchaseExplanation {...{ advertiserId, query, publisherId, transactionId }} />
  }
  return (
    <OnMarketDay advertiserId={advertiserId} title={t('Credited purchases')}>
      {(market) => <PurchaseList {...{ advertiserId, query, market }} />}
    </OnMarketDay>
  )
}

interface PurchaseListProps extends Omit<AdvertiserPageProps, 'rest'> {
  readonly market: MarketDays
}

function PurchaseList({ advertiserId, query, market }: PurchaseListProps) {
  const view = parseView(query, market)
  const purchases = usePurchases(advertiserId, view)
  const change = (changes: Readonly<Record<string, string | null>>) =>
    goTo(addressOf(['advertisers', advertiserId, 'purchases'], withQuery(query, changes)))
  return (
    <>
      <div class="head">
        <h1>{t('Credited purchases')}</h1>
        <p class="muted">
          {t('{{days}}, the oldest first', { days: formatRange(view.startDate, view.endDate) })}
        </p>
      </div>
      <PeriodBar
        view={view}
        market={market}
        currencies={[]}
        currency=""
        hasBase={false}
        onChange={change}
      />
      <section class="card" aria-label={t('Credited purchases')}>
        <Stages loaded={purchases} what={t('the purchases')}>
          {({ rows, totalRows }) =>
            rows.length === 0 ? (
              <Empty>{t('No purchase is credited to you here.')}</Empty>
            ) : (
              <>
                <Table
                  caption={t('Credited lines of purchases')}
                  columns={columnsOf(advertiserId, query)}
                  rows={rows}
                  keyOf={(_row, index) => String(index)}
                />
                <Pager
                  page={view.page}
                  pageSize={view.pageSize}
                  totalRows={totalRows}
                  onChange={(page, size) =>
                    change({ page: page === 0 ? null : String(page), size: String(size) })
                  }
                />
              </>
            )
          }
        </Stages>
      </section>
    </>
  )
}

function usePurchases(advertiserId: number, view: View) {
  const { api } = useSession()
  const parameters = new URLSearchParams({
    startDate: view.startDate,
    endDate: view.endDate,
    attributionProfile: view.profile,
    page: String(view.page),
    limit: String(view.pageSize),
  })
  const path = `v2/advertisers/${advertiserId}/attributions?${parameters}`
  const load = async (signal: AbortSignal) => {
    const { text, headers } = await api.text({ method: 'GET', path, signal })
    return { rows: readRows(text), totalRows: Number(headers.get('x-total-rows') ?? 0) }
  }
  return useLoaded(path, load, `${view.startDate} ${view.endDate}`)
}

function columnsOf(advertiserId: number, query: URLSearchParams): readonly TableColumn<Line>[] {
  const explained = ({ PUBLISHER_ID = '', TRANSACTION_ID = '' }: Line) =>
    addressOf(['advertisers', advertiserId, 'purchases', PUBLISHER_ID, TRANSACTION_ID], query)
  return [
    {
      name: 'TRANSACTION_ID',
      label: t('Purchase'),
      cell: (row) => (
        <a class="code" href={explained(row)}>
          {row['TRANSACTION_ID']}
        </a>
      ),
    },
    { name: 'DATE', label: t('Day'), cell: (row) => formatDay(row['DATE']) },
    { name: 'PUBLISHER_NAME', label: t('Publisher'), cell: (row) => row['PUBLISHER_NAME'] },
    { name: 'MARKET', label: t('Market'), cell: (row) => row['MARKET'] },
    {
      name: 'PURCHASED_GTIN',
      label: t('Bought'),
      cell: (row) => <span class="code">{row['PURCHASED_GTIN']}</span>,
    },
    {
      name: 'ADVERTISED_GTIN',
      label: t('Advertised'),
      cell: (row) => <span class="code">{row['ADVERTISED_GTIN']}</span>,
    },
    {
      name: 'RULE',
      label: t('Credited for'),
      cell: (row) => ruleWords(row['RULE']),
    },
    {
      name: 'SECONDS_TO_PURCHASE',
      label: t('Before the purchase'),
      isFigure: true,
      cell: (row) => formatDuration(Number(row['SECONDS_TO_PURCHASE']) * 1_000),
    },
    {
      name: 'UNITS',
      label: t('Units'),
      isFigure: true,
      cell: (row) => <Figure exact={row['UNITS']} shown={formatCount(row['UNITS'])} />,
    },
    {
      name: 'CONVERSION_VALUE',
      label: t('Value'),
      isFigure: true,
      cell: (row) => (
        <Figure
          exact={row['CONVERSION_VALUE']}
          shown={formatMoney(row['CONVERSION_VALUE'], row['CURRENCY'])}
        />
      ),
    },
  ]
}
