import type { AdvertiserAccount } from '../../../src/contract/me.ts'
import type { AttributionRule } from '../../../src/contract/report-request.ts'
import { parsePositiveInt32 } from '../../../src/domain/ids.ts'
import type { Api } from '../api.ts'
import { DownloadButton } from '../components/download-button.tsx'
import { Empty, Stages } from '../components/notices.tsx'
import { OnMarketDay } from '../components/on-market-day.tsx'
import { OrderTable } from '../components/order-table.tsx'
import { PurchaseExplanation } from '../components/own-explanation.tsx'
import { Pager } from '../components/pager.tsx'
import { PeriodBar } from '../components/period-bar.tsx'
import { fileNameOf, readRows } from '../csv.ts'
import { formatRange } from '../format.ts'
import { t } from '../language.ts'
import { useLoaded } from '../loaded.ts'
import type { AdvertiserPageProps } from '../page-table.ts'
import type { MarketDays } from '../periods.ts'
import { joinPages, totalRowsOf } from '../downloads.ts'
import { changeQuery } from '../router.ts'
import { useSession } from '../session.ts'
import { parseView, type View } from '../view.ts'
import { ruleWords } from '../words.ts'

const attributionRules = [
  'DIRECT_CLICK',
  'IN_GROUP_CLICK',
  'VIEW',
] as const satisfies readonly AttributionRule[]

const idLengthMax = 64

/** The purchases that are credited to the advertiser, and why each of them is. */
export function Purchases({ advertiserId, query, rest }: AdvertiserPageProps) {
  const [publisherId, transactionId] = rest
  if (publisherId !== undefined && transactionId !== undefined) {
    return <PurchaseExplanation {...{ advertiserId, query, publisherId, transactionId }} />
  }
  return (
    <OnMarketDay advertiserId={advertiserId} title={t('Credited purchases')}>
      {(market, account) => <PurchaseList {...{ advertiserId, query, market, account }} />}
    </OnMarketDay>
  )
}

interface PurchaseListProps extends Omit<AdvertiserPageProps, 'rest'> {
  readonly market: MarketDays
  readonly account: AdvertiserAccount
}

function PurchaseList({ advertiserId, query, market, account }: PurchaseListProps) {
  const view = parseView(query, market)
  const change = (changes: Readonly<Record<string, string | null>>) =>
    changeQuery(['advertisers', advertiserId, 'purchases'], query, changes)
  const filter = (changes: Readonly<Record<string, string | null>>) =>
    change({ ...changes, page: null })
  return (
    <>
      <div class="head">
        <h1>{t('Credited purchases')}</h1>
        <p class="muted">
          {t('{{days}}, the newest first', { days: formatRange(view.startDate, view.endDate) })}
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
      <PurchaseFilters key={query.get('transaction')} {...{ query, account }} onChange={filter} />
      <PurchaseCard {...{ advertiserId, query, account, view }} onChange={change} />
    </>
  )
}

interface PurchaseCardProps extends Pick<PurchaseListProps, 'advertiserId' | 'query' | 'account'> {
  readonly view: View
  readonly onChange: (changes: Readonly<Record<string, string | null>>) => void
}

function PurchaseCard({ advertiserId, query, account, view, onChange }: PurchaseCardProps) {
  const { api } = useSession()
  const read = (paging: Paging) => pathOf(advertiserId, { view, query, paging })
  const path = read({ page: view.page, limit: view.pageSize })
  const purchases = useLoaded(
    path,
    (signal) => readPurchases(api, path, signal),
    `${view.startDate} ${view.endDate}`
  )
  return (
    <section class="card" aria-label={t('Credited purchases')}>
      <div class="card-head">
        <div class="actions">
          <DownloadButton
            name={fileNameOf({
              ...view,
              advertiser: account.name,
              rows: 'purchases',
              currency: null,
            })}
            load={(from) => joinPages((paging) => from.text({ ...csv, path: read(paging) }))}
          />
        </div>
      </div>
      <Stages loaded={purchases} what={t('the purchases')}>
        {({ rows, totalRows }) =>
          rows.length === 0 ? (
            <Empty>{t('No purchase is credited to you here.')}</Empty>
          ) : (
            <>
              <OrderTable {...{ advertiserId, query, rows }} />
              <Pager
                page={view.page}
                pageSize={view.pageSize}
                totalRows={totalRows}
                onChange={(page, size) =>
                  onChange({ page: page === 0 ? null : String(page), size: String(size) })
                }
              />
            </>
          )
        }
      </Stages>
      <p class="footnote">
        {t(
          'Pages are cut by lines, so that an order with lines on two pages stands on both. In tables by campaign or product an order counts in each row it touches; the total of orders counts it once.'
        )}
      </p>
    </section>
  )
}

interface PurchaseFiltersProps {
  readonly query: URLSearchParams
  readonly account: AdvertiserAccount
  readonly onChange: (changes: Readonly<Record<string, string | null>>) => void
}

function PurchaseFilters({ query, account, onChange }: PurchaseFiltersProps) {
  return (
    <div class="bar" role="search" aria-label={t('Filter the purchases')}>
      <label>
        <span>{t('Order id')}</span>
        <input
          type="search"
          maxLength={idLengthMax}
          defaultValue={query.get('transaction') ?? ''}
          onChange={(event) => onChange({ transaction: event.currentTarget.value })}
        />
      </label>
      <label>
        <span>{t('Credited for')}</span>
        <select
          value={ruleOf(query) ?? ''}
          onChange={(event) => onChange({ rule: event.currentTarget.value })}
        >
          <option value="">{t('Anything')}</option>
          {attributionRules.map((rule) => (
            <option key={rule} value={rule}>
              {ruleWords(rule)}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span>{t('Publisher')}</span>
        <select
          value={query.get('shop') ?? ''}
          onChange={(event) => onChange({ shop: event.currentTarget.value })}
        >
          <option value="">{t('All publishers')}</option>
          {account.publishers.map(({ id, name }) => (
            <option key={id} value={String(id)}>
              {name}
            </option>
          ))}
        </select>
      </label>
    </div>
  )
}

interface Paging {
  readonly page: number
  readonly limit: number
}

interface Shown {
  readonly view: View
  readonly query: URLSearchParams
  readonly paging: Paging
}

/** What the address says beyond the closed lists is left out, since people edit addresses. */
function pathOf(advertiserId: number, { view, query, paging }: Shown): string {
  const parameters = new URLSearchParams({
    startDate: view.startDate,
    endDate: view.endDate,
    attributionProfile: view.profile,
    page: String(paging.page),
    limit: String(paging.limit),
    sortType: 'DESC',
  })
  const [order, shop] = [query.get('transaction') ?? '', query.get('shop') ?? '']
  const rule = ruleOf(query)
  if (order !== '') parameters.set('transactionId', order.slice(0, idLengthMax))
  if (rule !== undefined) parameters.set('rule', rule)
  if (parsePositiveInt32(shop) !== null) parameters.set('publisherId', shop)
  return `v2/advertisers/${advertiserId}/attributions?${parameters}`
}

function ruleOf(query: URLSearchParams): AttributionRule | undefined {
  return attributionRules.find((known) => known === query.get('rule'))
}

const csv = { method: 'GET', mediaType: 'text/csv' } as const

async function readPurchases(api: Api, path: string, signal: AbortSignal) {
  const { text, headers } = await api.text({ ...csv, path, signal })
  return { rows: readRows(text), totalRows: totalRowsOf(headers) }
}
