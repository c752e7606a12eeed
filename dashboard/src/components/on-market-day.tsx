import type { ComponentChildren } from 'preact'
import { t } from '../language.ts'
import type { AdvertiserAccount } from '../../../src/contract/me.ts'
import { latestOf } from '../loaded.ts'
import { marketDaysAt } from '../market-days.ts'
import { useAccount } from '../reports.ts'
import { useNow } from '../service-clock.ts'
import { useSession } from '../session.ts'
import type { MarketDays } from '../periods.ts'
import { Failure, Loading } from './notices.tsx'

interface OnMarketDayProps {
  readonly advertiserId: number
  /** Of the page, until its own heading can be drawn. */
  readonly title: string
  readonly children: (market: MarketDays, account: AdvertiserAccount) => ComponentChildren
}

/** What depends on the day of today: figures are cut into days of markets, which the reader's clock does not know. */
export function OnMarketDay({ advertiserId, title, children }: OnMarketDayProps) {
  const loaded = useAccount(advertiserId)
  const now = useNow(useSession().api.clock)
  const account = latestOf(loaded)
  if (account !== null) {
    return (
      <>
        <p class="print-only">
          <strong>{account.name}</strong>
        </p>
        {children(marketDaysAt(account, now), account)}
      </>
    )
  }
  return (
    <>
      <div class="head">
        <h1>{title}</h1>
      </div>
      {loaded.state === 'failed' ? (
        <Failure messages={loaded.messages} onRetry={loaded.retry} />
      ) : (
        <Loading what={t('the account')} />
      )}
    </>
  )
}
