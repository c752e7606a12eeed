import { Figure } from '../../components/figure.tsx'
import { useState } from 'preact/hooks'
import type { ServedAdReading } from '../../../../src/contract/served-ad.ts'
import { Empty, Stages, Warning } from '../../components/notices.tsx'
import { Table } from '../../components/table.tsx'
import { formatInstant, formatMoney, formatNumber, formatPrice, nothing } from '../../format.ts'
import { useLoaded } from '../../loaded.ts'
import { addressOf } from '../../router.ts'
import { useSession } from '../../session.ts'
import { profileNames, profiles } from '../../view.ts'
import { wordsOf } from '../../words.ts'
import { phrase, t } from '../../language.ts'

/** The limit of the service. */
const linkLengthMax = 16_384

interface Asked {
  readonly link: string
  /** Distinguishes requests, so that the pasted text need not be the key of one. */
  readonly turn: number
}

/**
 * Everything that is known about the served ad behind a tracking link. What is pasted stays in the memory
 * of the page: it names a shopper, so it goes into no address and no history.
 */
export function Link() {
  const [asked, setAsked] = useState<Asked | null>(null)
  const ask = (link: string) => setAsked((last) => ({ link, turn: (last?.turn ?? 0) + 1 }))
  return (
    <>
      <div class="head">
        <h1>{t('Look up a link')}</h1>
      </div>
      <LinkForm onAsk={ask} />
      {asked === null ? (
        <Empty>
          {t('Paste a tracking link of an impression, a click or a load, or its tracking data.')}
        </Empty>
      ) : (
        <Found asked={asked} />
      )}
    </>
  )
}

function LinkForm({ onAsk }: { readonly onAsk: (link: string) => void }) {
  const [link, setLink] = useState('')
  return (
    <form
      class="bar"
      autocomplete="off"
      onSubmit={(event) => {
        event.preventDefault()
        if (link.trim() !== '') onAsk(link.trim())
      }}
    >
      <label class="wide">
        <span>{t('Link or tracking data')}</span>
        <textarea
          class="code"
          rows={4}
          value={link}
          maxLength={linkLengthMax}
          autocomplete="off"
          spellcheck={false}
          onInput={(event) => setLink(event.currentTarget.value)}
        />
      </label>
      <button type="submit" class="primary">
        {t('Look up')}
      </button>
    </form>
  )
}

function Found({ asked }: { readonly asked: Asked }) {
  const { api } = useSession()
  const reading = useLoaded(`link ${asked.turn}`, async (signal) =>
    api.post<ServedAdReading>('admin/v1/tracking-links/read', { link: asked.link }, signal)
  )
  return (
    <Stages loaded={reading} what={t('the served ad')}>
      {(value) => (
        <>
          {value.isFinal && (
            <Warning>
              {t('The day of serving is final: what came of it may have been dropped since.')}
            </Warning>
          )}
          <Says reading={value} />
          <Events events={value.events} />
          <Credits reading={value} />
        </>
      )}
    </Stages>
  )
}

const carried = {
  absent: t('none'),
  nobody: t('text that names nobody'),
  present: t('yes'),
} as const

function Says({ reading }: { readonly reading: ServedAdReading }) {
  const { ad } = reading
  return (
    <section class="card" aria-label={t('What the link says')}>
      <h2>{phrase('Served ad {{id}}', { id: <span class="code">{ad.servedAdId}</span> })}</h2>
      <Table
        caption={t('What the link says')}
        columns={[
          { name: 'fact', label: t('Field'), cell: ([fact]) => fact },
          { name: 'value', label: t('Content'), cell: ([, value]) => value },
        ]}
        rows={factsOf(reading)}
        keyOf={([fact]) => fact}
      />
    </section>
  )
}

function factsOf(reading: ServedAdReading): readonly (readonly [fact: string, value: string])[] {
  const { ad, names } = reading
  return [
    [t('Served'), formatInstant(ad.servedAt)],
    [t('Impressions count until'), formatInstant(reading.viewsCountUntil)],
    [t('Clicks count until'), formatInstant(reading.clicksCountUntil)],
    [t('Publisher'), named(ad.publisherId, names.publisher)],
    [t('Site'), named(ad.siteId, names.site)],
    [t('Market'), named(ad.marketId, names.market)],
    [t('Advertiser'), named(ad.advertiserId, names.advertiser)],
    [t('Campaign'), named(ad.campaignId, names.campaign)],
    [t('Ad group'), named(ad.adGroupId, names.adGroup)],
    [t('GTIN'), ad.gtin],
    [t('Group'), ad.groupId === '' ? nothing : ad.groupId],
    [t('Cost per click'), formatPrice(ad.costPerClick, ad.currency)],
    [t('Cost per mille'), formatPrice(ad.costPerMille, ad.currency)],
    // Shown as text, not as a link, so that nobody goes there by accident.
    [t('Landing page'), ad.landingUrl === '' ? nothing : ad.landingUrl],
    [t('User id'), carried[ad.userId]],
    [t('Logged-in id'), carried[ad.userLoggedInId]],
    [t('Tracking key'), ad.keyId],
  ]
}

function named(id: number, name: string | null): string {
  return `${name ?? t('not in the catalog')} (${id})`
}

function Events({ events }: Pick<ServedAdReading, 'events'>) {
  return (
    <section class="card" aria-label={t('Events')}>
      <h2>{t('Events')}</h2>
      {events.length === 0 ? (
        <Empty>{t('No event of it has come in.')}</Empty>
      ) : (
        <Table
          caption={t('Events of the served ad')}
          columns={[
            { name: 'kind', label: t('Kind'), cell: ({ kind }) => wordsOf(kind) },
            {
              name: 'at',
              label: t('First received'),
              cell: (one) => formatInstant(one.receivedAt),
            },
            {
              name: 'verdict',
              label: t('Verdict'),
              term: 'verdict',
              cell: ({ verdict, dataCentreList }) =>
                wordsOf(verdict) +
                (dataCentreList === undefined
                  ? ''
                  : t(', list {{list}}', { list: dataCentreList })),
            },
          ]}
          rows={events}
          keyOf={({ kind, verdict }) => `${kind} ${verdict}`}
        />
      )}
    </section>
  )
}

type Credit = ServedAdReading['credits'][number]

function purchaseLink({ publisherId, transactionId }: Credit) {
  // An id without a visible character cannot be looked up.
  if (transactionId.trim() === '') return t('without a transaction id')
  return <a href={addressOf(['operator', 'lookup', publisherId, transactionId])}>{transactionId}</a>
}

function Credits({ reading }: { readonly reading: ServedAdReading }) {
  const { credits, creditsLeftOut, creditedPurchases } = reading
  return (
    <section class="card" aria-label={t('Purchases')}>
      <h2>{t('Purchases credited to it: {{purchases}}', { purchases: creditedPurchases })}</h2>
      {credits.length === 0 ? (
        <Empty>{t('No purchase is credited to it.')}</Empty>
      ) : (
        <Table
          caption={t('Lines credited to the served ad')}
          columns={[
            {
              name: 'transaction',
              label: t('Purchase'),
              cell: purchaseLink,
            },
            { name: 'publisher', label: t('Publisher'), cell: (one) => String(one.publisherId) },
            { name: 'at', label: t('Bought'), cell: (one) => formatInstant(one.purchasedAt) },
            { name: 'line', label: t('Line'), cell: (one) => String(one.line) },
            { name: 'units', label: t('Units'), cell: (one) => formatNumber(one.quantity) },
            {
              name: 'value',
              label: t('Value'),
              isFigure: true,
              cell: (one) => (
                <Figure exact={one.value} shown={formatMoney(one.value, one.currency)} />
              ),
            },
            ...profiles.map((profile) => ({
              name: profile,
              label: profileNames[profile],
              cell: (one: Credit) => wordsOf(one.rules[profile]),
            })),
          ]}
          rows={credits}
          keyOf={(one) => `${one.publisherId} ${one.transactionId} ${one.line}`}
        />
      )}
      {creditsLeftOut > 0 && (
        <p class="footnote">
          {t('{{count}} more lines are not listed.', { count: creditsLeftOut })}
        </p>
      )}
    </section>
  )
}
