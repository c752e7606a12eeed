import { useState } from 'preact/hooks'
import { anyCase } from '../../../src/domain/any-case.ts'
import { baseOf } from '../bases.ts'
import { latestOf } from '../loaded.ts'
import { nameOf, type Advertiser, type Summaries } from '../advertisers.ts'
import { Empty, Failure, Loading, Stages, Warning } from '../components/notices.tsx'
import { OverviewTable } from '../components/overview-table.tsx'
import { Pager } from '../components/pager.tsx'
import { PeriodBar } from '../components/period-bar.tsx'
import {
  csvOf,
  brandRow,
  orderNames,
  orderRows,
  trendDays,
  type BrandRow,
  type OrderName,
} from '../overview-rows.ts'
import { fileNameOf, saveFile } from '../csv.ts'
import { formatCount, formatRange } from '../format.ts'
import { t } from '../language.ts'
import { marketDaysAt } from '../market-days.ts'
import type { MarketDays } from '../periods.ts'
import { useAccount, useSummary } from '../reports.ts'
import { addressOf, changeQuery, replaceWith, withQuery, type Changes } from '../router.ts'
import { useNow } from '../service-clock.ts'
import { useSession } from '../session.ts'
import {
  chooseCurrency,
  keepingCurrency,
  targetOf,
  unknownLast,
  type ShownCurrency,
} from '../shown-currency.ts'
import { parseView, type View } from '../view.ts'

interface OverviewProps {
  readonly advertisers: readonly Advertiser[]
  readonly query: URLSearchParams
}

/** A row for each advertiser of the key, for whoever looks after several. */
export function Overview({ advertisers, query }: OverviewProps) {
  // The days of figures are those of all markets, which the account of every advertiser in the catalog lists.
  const known = advertisers.find(({ name }) => name !== null) ?? advertisers[0]
  const account = useAccount(known?.id ?? 0)
  const now = useNow(useSession().api.clock)
  const loaded = latestOf(account)
  if (loaded !== null) {
    const market = marketDaysAt({ markets: loaded.markets, publishers: [] }, now)
    return <OverviewOn {...{ advertisers, query, market }} />
  }
  return (
    <>
      <h1>{t('Overview')}</h1>
      {account.state === 'failed' ? (
        <Failure messages={account.messages} onRetry={account.retry} />
      ) : (
        <Loading what={t('the account')} />
      )}
    </>
  )
}

function OverviewOn({ query: asked, market }: OverviewProps & { readonly market: MarketDays }) {
  const view = parseView(asked, market)
  const base = baseOf(view)
  const convertTo = targetOf(view.currency)
  const summaries = useSummary({
    startDate: view.startDate,
    endDate: view.endDate,
    attributionProfile: view.profile,
    trendDays,
    ...(base !== null && { comparison: base }),
    ...(convertTo !== null && { convertTo }),
  })
  const known = latestOf(summaries)
  const codes = known === null ? [] : codesOf(known.summaries)
  const currencies = chooseCurrency(view.currency, { found: codes, own: market.lastWholeOf })
  const { choices, choice, shown } = currencies
  const query = keepingCurrency(asked, currencies)
  const change = (changes: Changes) => changeQuery(['overview'], query, changes)
  return (
    <>
      <div class="head">
        <h1>{t('Overview')}</h1>
        <p class="muted">
          {t('{{days}}, days of each market’s own time', {
            days: formatRange(view.startDate, view.endDate),
          })}
        </p>
      </div>
      <PeriodBar
        view={view}
        market={market}
        currencies={choices}
        currency={choice ?? ''}
        onChange={change}
      />
      <Stages loaded={summaries} what={t('the figures')}>
        {(value) => (
          <>
            {!value.isWhole && (
              <Warning>
                {t(
                  'Only the {{limit}} advertisers with the smallest ids are here; the key may read more.',
                  {
                    limit: formatCount(String(value.summaries.length)),
                  }
                )}
              </Warning>
            )}
            <Brands {...{ summaries: value.summaries, view, shown, market, query, change }} />
          </>
        )}
      </Stages>
    </>
  )
}

/** Most agencies have all of theirs on one page; a browser draws many more rows slowly. */
const pageSizeDefault = 250

/** The currencies of all advertisers, the one of most of them first. */
function codesOf(summaries: Summaries['summaries']): readonly string[] {
  const counts = new Map<string, number>()
  for (const { CURRENCY } of summaries.flatMap(({ totals }) => totals)) {
    counts.set(CURRENCY, (counts.get(CURRENCY) ?? 0) + 1)
  }
  const codes = [...counts].toSorted(([one, a], [other, b]) => b - a || (one < other ? -1 : 1))
  return unknownLast(codes.map(([code]) => code))
}

interface BrandsProps {
  readonly summaries: Summaries['summaries']
  readonly view: View
  readonly shown: ShownCurrency
  readonly market: MarketDays
  readonly query: URLSearchParams
  readonly change: (changes: Changes) => void
}

function Brands({ summaries, view, shown, market, query, change }: BrandsProps) {
  const [typed, setTyped] = useState(query.get('q') ?? '')
  const search = (text: string) => {
    setTyped(text)
    replaceWith(addressOf(['overview'], withQuery(query, { q: text.slice(0, 200), page: null })))
  }
  const by: OrderName = orderNames.find((name) => name === query.get('by')) ?? 'AD_SPEND_REVENUE'
  const isDescending = query.get('order') !== 'asc'
  const asked = { shown, period: view, base: baseOf(view), market }
  const wanted = anyCase(typed.trim())
  const found = summaries.filter(
    (one) => anyCase(nameOf(one)).includes(wanted) || String(one.id) === wanted
  )
  const rows = orderRows(
    found.map((one) => brandRow(one, asked)),
    { by, isDescending }
  )
  const save = () =>
    saveFile(
      fileNameOf({
        ...view,
        advertiser: t('Overview'),
        rows: '',
        currency: shown.isConverted ? view.currency : shown.code,
      }),
      csvOf(rows, shown)
    )
  return (
    <section class="card group-table overview" aria-label={t('Advertisers')}>
      <div class="card-head">
        <label>
          <span>{t('Find an advertiser')}</span>
          <input
            type="search"
            maxLength={200}
            value={typed}
            onInput={(event) => search(event.currentTarget.value)}
          />
        </label>
        <div class="actions">
          <button type="button" disabled={rows.length === 0} onClick={save}>
            {t('Download CSV')}
          </button>
        </div>
      </div>
      {rows.length === 0 ? (
        <Empty>{t('No advertiser has this name.')}</Empty>
      ) : (
        <BrandPages {...{ rows, view, shown, query, by, isDescending, change }} />
      )}
    </section>
  )
}

interface BrandPagesProps extends Omit<BrandsProps, 'summaries' | 'market'> {
  readonly rows: readonly BrandRow[]
  readonly by: OrderName
  readonly isDescending: boolean
}

function BrandPages({ rows, view, shown, query, by, isDescending, change }: BrandPagesProps) {
  const pageSize = query.has('size') ? view.pageSize : pageSizeDefault
  const lastPage = Math.max(0, Math.ceil(rows.length / pageSize) - 1)
  const page = Math.min(view.page, lastPage)
  const sort = (name: string) => {
    const isOther = by !== name
    const goesDown = isOther ? name !== 'NAME' : !isDescending
    change({ by: name, order: goesDown ? null : 'asc', page: null })
  }
  return (
    <>
      <OverviewTable
        {...{ rows, shown, query }}
        listed={rows.slice(page * pageSize, (page + 1) * pageSize)}
        sorting={{
          by,
          isDescending,
          isSortable: (name) => orderNames.some((known) => known === name),
          onSort: sort,
        }}
      />
      {(rows.length > pageSize || query.has('size')) && (
        <Pager
          {...{ page, pageSize }}
          totalRows={rows.length}
          onChange={(next, length) =>
            change({ page: next === 0 ? null : String(next), size: String(length) })
          }
        />
      )}
    </>
  )
}
