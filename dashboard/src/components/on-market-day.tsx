import type { ComponentChildren } from 'preact'
import type { AdvertiserAccount } from '../../../src/contract/me.ts'
import { dayOf } from '../../../src/domain/day.ts'
import { latestOf } from '../loaded.ts'
import { useAccount } from '../reports.ts'
import { readersDay } from '../view.ts'
import { Failure, Loading } from './notices.tsx'

interface OnMarketDayProps {
  readonly advertiserId: number
  /** Of the page, until its own heading can be drawn. */
  readonly title: string
  readonly children: (today: string, account: AdvertiserAccount) => ComponentChildren
}

/** What depends on the day of today: figures are cut into days of markets, which the reader's clock does not know. */
export function OnMarketDay({ advertiserId, title, children }: OnMarketDayProps) {
  const loaded = useAccount(advertiserId)
  const account = latestOf(loaded)
  if (account !== null) return <>{children(newestDay(account, new Date()), account)}</>
  return (
    <>
      <div class="head">
        <h1>{title}</h1>
      </div>
      {loaded.state === 'failed' ? (
        <Failure messages={loaded.messages} onRetry={loaded.retry} />
      ) : (
        <Loading what="the account" />
      )}
    </>
  )
}

/**
 * The newest day of the advertiser's markets, of all markets if it has access to none, of the reader if there is no
 * market at all.
 */
export function newestDay(
  { markets, publishers }: Pick<AdvertiserAccount, 'markets' | 'publishers'>,
  now: Date
): string {
  const ownIds = new Set(publishers.flatMap(({ marketIds }) => marketIds))
  const own = markets.filter(({ id }) => ownIds.has(id))
  const days = (own.length > 0 ? own : markets).map(({ timeZone }) =>
    dayOf(now.getTime(), timeZone)
  )
  return days.toSorted().at(-1) ?? readersDay(now)
}
