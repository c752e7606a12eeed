// One line of a purchase as its advertiser may know it: the sentence, what happened when, and the details behind.
import type { AttributionProfile } from '../../../src/contract/report-request.ts'
import {
  formatCount,
  formatDuration,
  formatMoney,
  formatNumber,
  formatZonedInstant,
} from '../format.ts'
import { t } from '../language.ts'
import {
  boughtTitle,
  creditedTo,
  eventsOf,
  lossWords,
  placeName,
  tellCredit,
  tellReturns,
  titleOf,
  type Names,
  type OwnLine,
  type StoryEvent,
} from '../story.ts'
import { profileNames, profiles } from '../view.ts'
import { ruleWords, wordsOf } from '../words.ts'
import { Figure } from './figure.tsx'
import { Table } from './table.tsx'

interface StoryProps {
  readonly line: OwnLine
  readonly names: Names
  readonly currency: string
  readonly profile: AttributionProfile
  readonly purchasedAt: string
  readonly timeZone: string | undefined
}

export function PurchaseStory(props: StoryProps) {
  const { line, names, currency, profile } = props
  const returns = tellReturns({
    bought: line.boughtQuantity,
    rest: line.quantity,
    value: line.value,
    currency,
  })
  return (
    <section class="card story" aria-label={t('Line {{line}}', { line: line.line })}>
      <h2>{boughtTitle(names, line)}</h2>
      <p>
        <strong>{creditedTo(props)}</strong> ({profileNames[profile]}): {tellCredit(props)}
      </p>
      {returns !== null && <p>{returns}</p>}
      <ol class="timeline">
        {eventsOf(line, profile, props.purchasedAt).map((event, place) => (
          <Happened key={place} event={event} {...props} />
        ))}
      </ol>
      {line.candidatesLeftOut > 0 && (
        <p class="footnote">
          {t('{{count}} more of yours are not listed.', { count: line.candidatesLeftOut })}
        </p>
      )}
      {line.otherAdvertisersCandidates > 0 && (
        <p class="footnote">
          {t('{{count}} touchpoints of other advertisers might have earned the line.', {
            count: line.otherAdvertisersCandidates,
          })}
        </p>
      )}
      <details>
        <summary>{t('Other attributions, exact amounts and ids')}</summary>
        <p>
          {t('Credited:')} {formatNumber(line.quantity)} × <span class="code">{line.gtin}</span>,{' '}
          <Figure exact={line.value} shown={formatMoney(line.value, currency)} />
        </p>
        <Credits {...props} />
        <Ids {...props} />
      </details>
    </section>
  )
}

function Happened({ event, ...story }: StoryProps & { readonly event: StoryEvent }) {
  const { outcome, kind } = event
  const isLost = outcome !== null && outcome !== 'won'
  return (
    <li class={`${kind} ${isLost ? 'lost' : ''} ${outcome === 'won' ? 'won' : ''}`}>
      <time dateTime={event.at}>{formatZonedInstant(event.at, story.timeZone)}</time>
      <span>
        <WhatHappened event={event} {...story} />
        {isLost && kind !== 'purchase' && kind !== 'return' && (
          <span class="reason">
            {' '}
            {t('Not credited: {{reason}}.', { reason: lossWords(outcome, kind) })}
          </span>
        )}
      </span>
    </li>
  )
}

function WhatHappened({
  event,
  line,
  names,
  currency,
}: StoryProps & { readonly event: StoryEvent }) {
  const { ad, kind, units } = event
  if (kind === 'purchase') {
    return (
      <>
        <b>{t('Bought')}</b> {formatNumber(line.boughtQuantity)} ×{' '}
        <bdi>{boughtTitle(names, line)}</bdi>,{' '}
        <Figure exact={line.boughtValue} shown={formatMoney(line.boughtValue, currency)} />
      </>
    )
  }
  if (ad === null) {
    return (
      <b>
        {t('{{back}} of {{bought}} sent back', {
          back: formatCount(String(units)),
          bought: formatCount(String(line.boughtQuantity)),
        })}
      </b>
    )
  }
  return (
    <>
      <b>{kind === 'click' ? t('Clicked') : t('Seen')}</b>:{' '}
      <bdi>{titleOf(names, ad.gtin, ad.marketId)}</bdi>, <bdi>{placeName(names, ad)}</bdi>,{' '}
      {t('{{time}} before', { time: formatDuration(ad.msBeforePurchase) })}
    </>
  )
}

function Credits({ line }: StoryProps) {
  return (
    <Table
      caption={t('Who is credited for line {{line}}', { line: line.line })}
      columns={[
        { name: 'profile', label: t('Attribution'), cell: (one) => profileNames[one] },
        { name: 'to', label: t('Credited to'), cell: (one) => creditedTo({ line, profile: one }) },
        {
          name: 'rule',
          label: t('For'),
          cell: (one) => {
            const { credit } = line.credits[one]
            if (credit === null) return wordsOf(null)
            const time = formatDuration(credit.msBeforePurchase)
            return `${ruleWords(credit.rule)}, ${t('{{time}} before', { time })}`
          },
        },
      ]}
      rows={profiles}
      keyOf={(one) => one}
    />
  )
}

function Ids({ line, profile, purchasedAt, timeZone }: StoryProps) {
  const rows = eventsOf(line, profile, purchasedAt).flatMap(({ kind, at, ad }) =>
    ad === null ? [] : [{ kind, at, ad }]
  )
  if (rows.length === 0) return null
  return (
    <Table
      caption={t('Ids of your clicks and impressions before line {{line}}', { line: line.line })}
      columns={[
        { name: 'kind', label: t('Kind'), cell: ({ kind }) => wordsOf(kind) },
        { name: 'at', label: t('When'), cell: ({ at }) => formatZonedInstant(at, timeZone) },
        {
          name: 'gtin',
          label: t('GTIN'),
          term: 'GTIN',
          cell: ({ ad }) => <span class="code">{ad.gtin}</span>,
        },
        { name: 'campaign', label: t('Campaign id'), cell: ({ ad }) => String(ad.campaignId) },
        { name: 'adGroup', label: t('Ad group id'), cell: ({ ad }) => String(ad.adGroupId) },
        {
          name: 'servedAd',
          label: t('Served ad'),
          term: 'served-ad',
          cell: ({ ad }) => <span class="code">{ad.servedAdId}</span>,
        },
      ]}
      rows={rows}
      keyOf={(_row, index) => String(index)}
    />
  )
}
