import type { AdvertiserAccount } from '../../../src/contract/me.ts'
import { ConvertedFrom } from '../components/converted-from.tsx'
import { CompareProfiles, Trend } from '../components/trend.tsx'
import { IntervalChoice } from '../components/interval-choice.tsx'
import { MissingAmounts } from '../components/missing-amounts.tsx'
import { Empty, Stages } from '../components/notices.tsx'
import { OnMarketDay } from '../components/on-market-day.tsx'
import { PeriodBar } from '../components/period-bar.tsx'
import { FilterBar } from '../components/filter-bar.tsx'
import { GroupTable } from '../components/group-table.tsx'
import { SoFar } from '../components/so-far.tsx'
import { FiguresToCome, Tiles } from '../components/tiles.tsx'
import { judgeBase, lastWholeDay } from '../comparison-base.ts'
import { useFilterNames } from '../filter-names.ts'
import { latestOf, type Loaded } from '../loaded.ts'
import { formatList, formatRange } from '../format.ts'
import { chooseMetric, chosenMetrics, currenciesOf, totalOf, type Comparison } from '../metrics.ts'
import type { AdvertiserPageProps } from '../page-table.ts'
import { currencyOf, type SeriesRows } from '../series-rows.ts'
import type { MarketDays } from '../periods.ts'
import { useBase, useComparison, useOverview } from '../reports.ts'
import { changeQuery, type Changes } from '../router.ts'
import { currencyLabel, keepingCurrency, type ShownCurrency } from '../shown-currency.ts'
import { inCurrency, parseView, type View } from '../view.ts'
import { describeCompleteness } from '../words.ts'
import { t } from '../language.ts'

export type Change = (changes: Changes) => void

/** Filters, totals, the days as a chart, and the figures by group, all for the same question. */
export function Performance({ advertiserId, query }: AdvertiserPageProps) {
  return (
    <OnMarketDay advertiserId={advertiserId} title={t('Performance')}>
      {(market, account) => <PerformanceOn {...{ advertiserId, query, market, account }} />}
    </OnMarketDay>
  )
}

interface PerformanceProps extends Pick<AdvertiserPageProps, 'advertiserId' | 'query'> {
  readonly market: MarketDays
  readonly account: AdvertiserAccount
}

function PerformanceOn({ advertiserId, query: asked, market, account }: PerformanceProps) {
  const view = parseView(asked, market)
  const overview = useOverview(advertiserId, view)
  const base = useBase(advertiserId, view)
  const nameOf = useFilterNames(account, view)
  const known = latestOf(overview)
  const currencies = currencyOf(known, view.currency, market)
  const { choices, choice, shown } = currencies
  const query = keepingCurrency(asked, currencies)
  const change: Change = (changes) =>
    changeQuery(['advertisers', advertiserId, 'performance'], query, changes)
  return (
    <>
      <div class="head">
        <h1>{t('Performance')}</h1>
        <p class="muted">
          {t('{{days}}, days of each market’s own time', {
            days: formatRange(view.startDate, view.endDate),
          })}
        </p>
        <button type="button" class="screen-only print-button" onClick={() => print()}>
          {t('Print or save as PDF')}
        </button>
      </div>
      <PeriodBar
        view={view}
        nameOf={nameOf}
        market={market}
        firstDay={known?.firstDay ?? null}
        currencies={choices}
        currency={choice ?? ''}
        onChange={change}
      />
      <FilterBar {...{ account, view, nameOf }} onChange={change} />
      <SoFar
        {...{ advertiserId, view, query, market }}
        currency={choice === null ? null : shown.code}
      />
      <FiguresOf {...{ advertiserId, view, query, change, market, overview, base }} />
      {known !== null && (
        <Groups
          {...{ advertiserId, view, query, change, market, base, account, shown }}
          firstDay={known.firstDay}
        />
      )}
    </>
  )
}

interface GroupsProps extends Omit<FiguresProps, 'answer'> {
  readonly account: AdvertiserAccount
  readonly firstDay: string | null
  readonly shown: ShownCurrency
}

/** Waits for the currency, so that no rows are asked for that would be put away at once. */
function Groups(props: GroupsProps) {
  const { advertiserId, view, query, change, market, base, shown, account, firstDay } = props
  const { code: currency, isConverted } = shown
  const judged = { view, market, currency, base, firstDay, isConverted }
  return (
    <GroupTable
      advertiserId={advertiserId}
      view={isConverted ? view : inCurrency(view, currency)}
      query={query}
      account={account}
      base={judgeBase(judged).tile}
      onChange={change}
    />
  )
}

interface FiguresProps {
  readonly advertiserId: number
  readonly answer: SeriesRows
  readonly base: Loaded<SeriesRows | null>
  readonly market: MarketDays
  readonly view: View
  readonly query: URLSearchParams
  readonly change: Change
}

interface FiguresOfProps extends Omit<FiguresProps, 'answer'> {
  readonly overview: Loaded<SeriesRows>
}

/** Never the figures of an earlier question: below the new heading they would be read as its own. */
export function FiguresOf({ overview, ...shown }: FiguresOfProps) {
  if (overview.state === 'loading' && overview.isKept !== true) return <FiguresToCome />
  return (
    <Stages loaded={overview} what={t('the figures')}>
      {(answer) => <Figures {...shown} answer={answer} />}
    </Stages>
  )
}

/** Totals and chart, in one currency: amounts of several do not add up. */
function Figures({ advertiserId, answer, base, market, view, query, change }: FiguresProps) {
  const { choices, shown } = currencyOf(answer, view.currency, market)
  const { code: currency, isConverted } = shown
  const total = totalOf(answer, currency)
  if (total === null) return <NoFigures {...{ answer, currency }} />
  const chosen = chosenMetrics(query.get('chart'))
  const lastWhole = isConverted ? market.lastWhole : lastWholeDay(market, currency)
  const earlier = latestOf(base)
  const { firstDay } = answer
  const { tile, note, retry } = judgeBase({ view, market, currency, base, firstDay, isConverted })
  return (
    <>
      <Tiles
        total={total}
        isConverted={isConverted}
        base={tile}
        chosen={view.isComparing ? [] : chosen}
        onChoose={(name) => change({ chart: chooseMetric(chosen, name), compare: null })}
      />
      <p class="footnote">
        {note}{' '}
        {retry !== null && (
          <button type="button" class="link screen-only" onClick={retry}>
            {t('Try again')}
          </button>
        )}{' '}
        {choices.length > 1 &&
          !isConverted &&
          t('Figures are of the markets of the chosen currency.')}{' '}
        {describeCompleteness(answer, view.endDate)}
      </p>
      <ConvertedFrom answer={answer} />
      <MissingAmounts
        count={isConverted ? answer.unconverted : Number(total['UNCONVERTED'] ?? '0')}
      />
      <section class="card" aria-label={t('Over time')}>
        <div class="card-head">
          <h2>{t('Over time')}</h2>
          <div class="actions">
            <IntervalChoice view={view} onChange={change} />
            <label class="switch">
              <input
                type="checkbox"
                checked={view.isComparing}
                onChange={(event) =>
                  change({ compare: event.currentTarget.checked ? 'profiles' : null })
                }
              />
              {t('Compare attribution profiles')}
            </label>
          </div>
        </div>
        {view.isComparing ? (
          <Comparing {...{ advertiserId, view, query, change, currency, isConverted, lastWhole }} />
        ) : (
          <Trend
            {...{ answer, view, currency, isConverted, lastWhole, query }}
            earlier={tile.state === 'known' ? earlier : null}
            onChange={change}
          />
        )}
      </section>
    </>
  )
}

/** What there is in other currencies is said: the reader may not have chosen this one for this period. */
function NoFigures({
  answer,
  currency,
}: {
  readonly answer: SeriesRows
  readonly currency: string
}) {
  const others = currenciesOf(answer)
  if (others.length === 0) {
    return <Empty>{t('Nothing was counted in this period under these filters.')}</Empty>
  }
  return (
    <Empty>
      {t(
        'Nothing was counted in {{currency}} in this period under these filters. There are figures in {{others}}.',
        { currency: currencyLabel(currency), others: formatList(others.map(currencyLabel)) }
      )}
    </Empty>
  )
}

interface ComparingProps extends Omit<FiguresProps, 'answer' | 'base' | 'market'> {
  readonly currency: string
  readonly isConverted: boolean
  readonly lastWhole: string
}

function Comparing(props: ComparingProps) {
  const { advertiserId, view, query, change, ...shown } = props
  const comparison = useComparison(advertiserId, view)
  return (
    <Stages loaded={comparison} what={t('the three profiles')}>
      {(answers: Comparison) => (
        <CompareProfiles {...{ answers, view, query }} {...shown} onChange={change} />
      )}
    </Stages>
  )
}
