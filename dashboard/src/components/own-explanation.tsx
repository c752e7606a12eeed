import type { OwnExplanation } from '../../../src/contract/explanation.ts'
import { formatZonedInstant } from '../format.ts'
import { phrase, t } from '../language.ts'
import { useLoaded } from '../loaded.ts'
import { addressOf } from '../router.ts'
import { useSession } from '../session.ts'
import { parseProfile, profiles } from '../view.ts'
import { Stages, Warning } from './notices.tsx'
import { PurchaseStory } from './purchase-story.tsx'

interface PurchaseExplanationProps {
  readonly advertiserId: number
  readonly query: URLSearchParams
  readonly publisherId: string
  readonly transactionId: string
}

/** Why the lines of one purchase are credited to the advertiser, and which of its ads did not win. */
export function PurchaseExplanation(props: PurchaseExplanationProps) {
  const { advertiserId, query, publisherId, transactionId } = props
  const { api } = useSession()
  const path = `v2/advertisers/${advertiserId}/attributions/${publisherId}/${encodeURIComponent(transactionId)}`
  const explanation = useLoaded(path, async (signal) => await api.get<OwnExplanation>(path, signal))
  return (
    <>
      <p class="crumb">
        <a href={addressOf(['advertisers', advertiserId, 'purchases'], query)}>
          {t('← All purchases')}
        </a>
      </p>
      <div class="head">
        <h1>{phrase('Purchase {{id}}', { id: <span class="code">{transactionId}</span> })}</h1>
      </div>
      <Stages loaded={explanation} what={t('the explanation')}>
        {(value) => <Explained explanation={value} query={query} />}
      </Stages>
    </>
  )
}

interface ExplainedProps {
  readonly explanation: OwnExplanation
  readonly query: URLSearchParams
}

function Explained({ explanation, query }: ExplainedProps) {
  const { lines, linesLeftOut, names, currency, purchasedAt, readAt, publisherId } = explanation
  const profile = parseProfile(query)
  const market = marketOf(explanation)
  const timeZone = market?.timeZone
  return (
    <>
      {explanation.isPending && (
        <Warning>{t('A newer attribution of this purchase is on its way.')}</Warning>
      )}
      {lines.map((line) => (
        <PurchaseStory
          key={line.line}
          {...{ line, names, currency, profile, purchasedAt, timeZone }}
        />
      ))}
      {linesLeftOut > 0 && (
        <p class="footnote">{t('{{count}} more lines are not listed.', { count: linesLeftOut })}</p>
      )}
      <p class="footnote">
        {t('Bought at {{publisher}}; attributed as of {{instant}}.', {
          publisher: `${names.publisher ?? t('publisher')} (${publisherId})`,
          instant: formatZonedInstant(readAt, timeZone),
        })}{' '}
        {market === undefined
          ? t('Times are those of your own clock.')
          : t('Times are those of {{zone}}, the zone of the market {{market}}.', {
              zone: market.timeZone,
              market: market.code,
            })}{' '}
        {t(
          'You see the lines that some attribution credits to you. Other lines of the order, and what others advertised, are theirs to see.'
        )}
      </p>
    </>
  )
}

/** That of the ads that are credited: reports count the purchase on its day. */
function marketOf({ lines, names }: OwnExplanation) {
  const credits = lines.flatMap((line) => profiles.map((profile) => line.credits[profile].credit))
  const ids = new Set(credits.flatMap((credit) => credit?.marketId ?? []))
  return names.markets.find(({ id }) => ids.has(id))
}
