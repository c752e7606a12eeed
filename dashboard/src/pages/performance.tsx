import type { AdvertiserAccount } from '../../../src/contract/me.ts'
import { CompareProfiles, Trend } from '../components/trend.tsx'
import { Empty, Stages, Warning } from '../components/notices.tsx'
import { OnMarketDay } from '../components/on-market-day.tsx'
import { PeriodBar } from '../components/period-bar.tsx'
import { ProductTable } from '../components/product-table.tsx'
import { Tiles } from '../components/tiles.tsx'
import { latestOf } from '../loaded.ts'
import { formatNumber, formatRange } from '../format.ts'
import { currenciesOf, totalOf, type Comparison } from '../metrics.ts'
import type { AdvertiserPageProps } from '../page-table.ts'
import { useComparison, useOverview, type Overview } from '../reports.ts'
import { addressOf, goTo, withQuery } from '../router.ts'
import { inCurrency, parseView, periodBefore, type View } from '../view.ts'
import { describeCompleteness } from '../words.ts'

export type Change = (changes: Readonly<Record<string, string | null>>) => void

/** Totals, the days as a chart, and the rows of the report, all for the same question. */
export function Performance({ advertiserId, query }: AdvertiserPageProps) {
  return (
    <OnMarketDay advertiserId={advertiserId} title="Performance">
      {(today, account) => <PerformanceOn {...{ advertiserId, query, today, account }} />}
    </OnMarketDay>
  )
}

interface PerformanceProps extends Pick<AdvertiserPageProps, 'advertiserId' | 'query'> {
  readonly today: string
  readonly account: AdvertiserAccount
}

function PerformanceOn({ advertiserId, query, today, account }: PerformanceProps) {
  const view = parseView(query, today)
  const change: Change = (changes) =>
    goTo(addressOf(['advertisers', advertiserId, 'performance'], withQuery(query, changes)))
  const overview = useOverview(advertiserId, view)
  const known = latestOf(overview)
  const currencies = known === null ? [] : currenciesOf(known.now)
  return (
    <>
      <div class="head">
        <h1>Performance</h1>
        <p class="muted">{formatRange(view.startDate, view.endDate)}</p>
      </div>
      <PeriodBar
        view={view}
        today={today}
        currencies={currencies}
        currency={view.currency ?? currencies[0] ?? ''}
        onChange={change}
      />
      <Stages loaded={overview} what="the figures">
        {(value) => <Figures {...{ advertiserId, view, query, change }} overview={value} />}
      </Stages>
      {known !== null && (
        <Products {...{ advertiserId, view, query, change, currencies, account }} />
      )}
    </>
  )
}

interface ProductsProps extends Omit<FiguresProps, 'overview'> {
  readonly account: AdvertiserAccount
  readonly currencies: readonly string[]
}

/** Waits for the currencies, so that no rows are asked for that would be put away at once. */
function Products({ advertiserId, view, query, change, currencies, account }: ProductsProps) {
  const currency = currencies.find((code) => code === view.currency) ?? currencies[0]
  const codes = account.markets.filter((one) => one.currency === currency).map(({ code }) => code)
  const shown = currencies.length > 1 ? inCurrency(view, codes) : view
  return (
    <ProductTable
      advertiserId={advertiserId}
      view={shown}
      query={query}
      account={account}
      onChange={change}
    />
  )
}

interface FiguresProps {
  readonly advertiserId: number
  readonly overview: Overview
  readonly view: View
  readonly query: URLSearchParams
  readonly change: Change
}

/** Totals and chart, in one currency: amounts of several do not add up. */
export function Figures({ advertiserId, overview, view, query, change }: FiguresProps) {
  const currencies = currenciesOf(overview.now)
  const currency = currencies.find((code) => code === view.currency) ?? currencies[0]
  if (currency === undefined) {
    return <Empty>Nothing was counted in this period under these filters.</Empty>
  }
  const total = totalOf(overview.now, currency)
  const { startDate, endDate } = periodBefore(view)
  return (
    <>
      {total !== null && <Tiles total={total} before={totalOf(overview.before, currency)} />}
      <p class="footnote">
        Changes are against {formatRange(startDate, endDate)}.{' '}
        {currencies.length > 1 && 'Figures are of the markets of the chosen currency. '}
        {describeCompleteness(overview.now, view.endDate)}
      </p>
      {overview.now.unconverted > 0 && (
        <Warning>
          {formatNumber(overview.now.unconverted)} amounts are missing from these figures: there is
          no exchange rate for them yet.
        </Warning>
      )}
      <section class="card" aria-label="Day by day">
        <div class="card-head">
          <h2>Day by day</h2>
          <label class="switch">
            <input
              type="checkbox"
              checked={view.isComparing}
              onChange={(event) =>
                change({ compare: event.currentTarget.checked ? 'profiles' : null })
              }
            />
            Compare attribution profiles
          </label>
        </div>
        {view.isComparing ? (
          <Comparing {...{ advertiserId, view, query, change, currency }} />
        ) : (
          <Trend answer={overview.now} {...{ view, currency, query }} onChange={change} />
        )}
      </section>
    </>
  )
}

interface ComparingProps extends Omit<FiguresProps, 'overview'> {
  readonly currency: string
}

function Comparing({ advertiserId, view, query, change, currency }: ComparingProps) {
  const comparison = useComparison(advertiserId, view)
  return (
    <Stages loaded={comparison} what="the three profiles">
      {(answers: Comparison) => (
        <CompareProfiles {...{ answers, view, currency, query }} onChange={change} />
      )}
    </Stages>
  )
}
