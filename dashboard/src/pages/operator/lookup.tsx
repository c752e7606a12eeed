import { Figure } from '../../components/figure.tsx'
import { useState } from 'preact/hooks'
import type { Explanation } from '../../../../src/contract/explanation.ts'
import { Empty, Stages, Warning } from '../../components/notices.tsx'
import { Table, type TableColumn } from '../../components/table.tsx'
import { formatInstant, formatMoney, formatNumber, nothing } from '../../format.ts'
import { t } from '../../language.ts'
import { useLoaded } from '../../loaded.ts'
import type { OperatorPageProps } from '../../page-table.ts'
import { addressOf, goTo } from '../../router.ts'
import { useSession } from '../../session.ts'
import { nameOf, placeName, tellReturns, titleOf } from '../../story.ts'
import { profileNames, profiles } from '../../view.ts'
import { ruleWords, wordsOf } from '../../words.ts'

/** Everything that is known about one purchase: its deliveries, its returns, its lines and who is credited. */
export function Lookup({ rest }: OperatorPageProps) {
  const [publisherId = '', transactionId = ''] = rest
  return (
    <>
      <div class="head">
        <h1>{t('Look up a purchase')}</h1>
      </div>
      <LookupForm key={rest.join('/')} publisherId={publisherId} transactionId={transactionId} />
      {publisherId === '' || transactionId === '' ? (
        <Empty>{t('Enter the publisher and the transaction id as the shop sent it.')}</Empty>
      ) : (
        <Found publisherId={publisherId} transactionId={transactionId} />
      )}
    </>
  )
}

interface PurchaseName {
  readonly publisherId: string
  readonly transactionId: string
}

function LookupForm(name: PurchaseName) {
  const [publisherId, setPublisherId] = useState(name.publisherId)
  const [transactionId, setTransactionId] = useState(name.transactionId)
  return (
    <form
      class="bar"
      onSubmit={(event) => {
        event.preventDefault()
        if (/^\d+$/u.test(publisherId) && transactionId !== '') {
          goTo(addressOf(['operator', 'lookup', publisherId, transactionId]))
        }
      }}
    >
      <label>
        <span>{t('Publisher id')}</span>
        <input
          inputMode="numeric"
          value={publisherId}
          onInput={(event) => setPublisherId(event.currentTarget.value.trim())}
        />
      </label>
      <label>
        <span>{t('Transaction id')}</span>
        <input
          value={transactionId}
          maxLength={64}
          onInput={(event) => setTransactionId(event.currentTarget.value)}
        />
      </label>
      <button type="submit" class="primary">
        {t('Look up')}
      </button>
    </form>
  )
}

function Found({ publisherId, transactionId }: PurchaseName) {
  const { api } = useSession()
  const path = `admin/v1/conversions/${publisherId}/${encodeURIComponent(transactionId)}`
  const explanation = useLoaded(path, async (signal) => await api.get<Explanation>(path, signal))
  return (
    <Stages loaded={explanation} what={t('the purchase')}>
      {(value) => <Purchase explanation={value} />}
    </Stages>
  )
}

function Purchase({ explanation }: { readonly explanation: Explanation }) {
  const { names, deliveries, lines, linesLeftOut, isPending } = explanation
  return (
    <>
      {isPending && <Warning>{t('A newer attribution of this purchase is on its way.')}</Warning>}
      <State explanation={explanation} />
      <Deliveries explanation={explanation} />
      {explanation.returns.length > 0 && <Returns explanation={explanation} />}
      {lines.map((line) => (
        <LineCard
          key={line.line}
          line={line}
          names={names}
          currency={deliveries.find(({ standing }) => standing === 'counted')?.currency}
        />
      ))}
      {linesLeftOut > 0 && (
        <p class="footnote">{t('{{count}} more lines are not listed.', { count: linesLeftOut })}</p>
      )}
    </>
  )
}

interface OfPurchase {
  readonly explanation: Explanation
}

/** What the reports have of it, as the command line says it. */
function State({ explanation: { attribution, isUpToDate } }: OfPurchase) {
  if (attribution === null) {
    return <p class="footnote">{t('No attribution of it is in the reports yet.')}</p>
  }
  const instant = formatInstant(attribution.readAt)
  // What it was made from is erased, so there is nothing to compare.
  if (attribution.isFrozen) {
    return (
      <Warning>
        {t(
          'The attribution in the reports was read at {{instant}} and is frozen by an erasure: credit stays with the same ads, returns and voids still take units and value back, and nothing else is known of the shopper.',
          { instant }
        )}
      </Warning>
    )
  }
  return (
    <p class="footnote">
      {isUpToDate
        ? t('The attribution in the reports was read at {{instant}} and agrees with this.', {
            instant,
          })
        : t(
            'The attribution in the reports was read at {{instant}} and does not agree with this.',
            { instant }
          )}
    </p>
  )
}

type Delivery = Explanation['deliveries'][number]
type Return = Explanation['returns'][number]

/** What a delivery of a purchase has in common with one of a return. */
const deliveryColumns: readonly TableColumn<Delivery | Return>[] = [
  {
    name: 'id',
    label: t('Delivery'),
    cell: ({ deliveryId }) => <span class="code">{deliveryId.slice(0, 12)}…</span>,
  },
  { name: 'at', label: t('Received'), cell: (one) => formatInstant(one.receivedAt) },
  { name: 'standing', label: t('Standing'), cell: (one) => wordsOf(one.standing) },
  {
    name: 'conflict',
    label: t('Conflict'),
    cell: (one) => (one.isConflict ? t('yes') : t('no')),
  },
]

function Deliveries({ explanation }: OfPurchase) {
  const { names, publisherId, deliveries, deliveriesLeftOut } = explanation
  return (
    <section class="card" aria-label={t('Deliveries')}>
      <h2>
        {t('Deliveries of {{publisher}}', {
          publisher: names.publisher ?? t('publisher {{id}}', { id: String(publisherId) }),
        })}
      </h2>
      {deliveries.length === 0 ? (
        <Empty>{t('No delivery of the purchase itself is known.')}</Empty>
      ) : (
        <Table
          caption={t('Deliveries of the purchase')}
          columns={[
            ...deliveryColumns,
            {
              name: 'site',
              label: t('Site'),
              cell: ({ siteId }) => nameOf(names.sites, siteId) ?? String(siteId),
            },
            { name: 'currency', label: t('Currency'), cell: (one) => one.currency },
          ]}
          rows={deliveries}
          keyOf={({ deliveryId }) => deliveryId}
        />
      )}
      {deliveriesLeftOut > 0 && (
        <p class="footnote">
          {t('{{count}} more deliveries are not listed.', { count: deliveriesLeftOut })}
        </p>
      )}
    </section>
  )
}

/** One return may have several deliveries, of which one counts. */
function Returns({ explanation: { names, returns, returnsLeftOut } }: OfPurchase) {
  return (
    <section class="card" aria-label={t('Returns of the purchase')}>
      <h2>{t('Returns of the purchase')}</h2>
      <Table
        caption={t('Returns of the purchase')}
        columns={[
          {
            name: 'return',
            label: t('Return'),
            cell: ({ returnId }) => <span class="code">{returnId}</span>,
          },
          ...deliveryColumns,
          {
            name: 'products',
            label: t('Products'),
            cell: ({ products }) =>
              products
                .map(
                  ({ gtin, quantity }) =>
                    `${formatNumber(quantity)} × ${titleOf(names, gtin, undefined)}`
                )
                .join(', '),
          },
        ]}
        rows={returns}
        keyOf={({ deliveryId }) => deliveryId}
      />
      {returnsLeftOut > 0 && (
        <p class="footnote">
          {t('{{count}} more deliveries of returns are not listed.', { count: returnsLeftOut })}
        </p>
      )}
    </section>
  )
}

type Line = Explanation['lines'][number]
type Candidate = Line['candidates'][number]
type AdNames = Explanation['names']

interface LineCardProps {
  readonly line: Line
  readonly names: AdNames
  readonly currency: string | undefined
}

function LineCard({ line, names, currency }: LineCardProps) {
  const earning = profiles.flatMap((profile) => line.credits[profile] ?? [])
  const returns = tellReturns({
    bought: line.quantity,
    rest: line.remainingQuantity,
    value: line.remainingValue,
    currency,
  })
  return (
    <section class="card" aria-label={t('Line {{line}}', { line: line.line })}>
      <h2>
        {t('Line {{line}}', { line: line.line })}:{' '}
        <bdi>{titleOf(names, line.gtin, earning[0]?.marketId)}</bdi>
      </h2>
      <p>
        {formatNumber(line.quantity)} × <span class="code">{line.gtin}</span>,{' '}
        <Figure exact={line.value} shown={formatMoney(line.value, currency)} />,{' '}
        {wordsOf(line.verdict)}
      </p>
      {returns !== null && <p>{returns}</p>}
      <Credits line={line} names={names} />
      <Touchpoints line={line} names={names} />
      {line.candidatesLeftOut > 0 && (
        <p class="footnote">
          {t('{{count}} more touchpoints are not listed.', { count: line.candidatesLeftOut })}
        </p>
      )}
    </section>
  )
}

type OfLine = Omit<LineCardProps, 'currency'>

function Credits({ line, names }: OfLine) {
  return (
    <Table
      caption={t('Who is credited for line {{line}}', { line: line.line })}
      columns={[
        { name: 'profile', label: t('Attribution'), cell: (profile) => profileNames[profile] },
        {
          name: 'to',
          label: t('Advertiser'),
          cell: (profile) => {
            const credit = line.credits[profile]
            return credit === null ? t('nobody') : advertiserOf(names, credit)
          },
        },
        {
          name: 'place',
          label: t('Campaign and ad group'),
          cell: (profile) => {
            const credit = line.credits[profile]
            return credit === null ? nothing : placeName(names, credit)
          },
        },
        { name: 'rule', label: t('For'), cell: (one) => ruleWords(line.credits[one]?.rule) },
      ]}
      rows={profiles}
      keyOf={(profile) => profile}
    />
  )
}

function Touchpoints({ line, names }: OfLine) {
  return (
    <Table
      caption={t('Touchpoints before line {{line}}', { line: line.line })}
      columns={[
        { name: 'kind', label: t('Kind'), cell: ({ kind }) => wordsOf(kind) },
        { name: 'at', label: t('When'), cell: ({ touchedAt }) => formatInstant(touchedAt) },
        { name: 'ad', label: t('Advertiser'), cell: (one) => advertiserOf(names, one) },
        {
          name: 'gtin',
          label: t('Advertised'),
          cell: ({ gtin, marketId }) => titleOf(names, gtin, marketId),
        },
        {
          name: 'place',
          label: t('Campaign and ad group'),
          cell: (one) => placeName(names, one),
        },
        ...profiles.map((profile) => ({
          name: profile,
          label: profileNames[profile],
          cell: (one: Candidate) => wordsOf(one.outcomes[profile]),
        })),
      ]}
      rows={line.candidates}
      keyOf={(_candidate, index) => String(index)}
    />
  )
}

function advertiserOf(
  { advertisers }: AdNames,
  { advertiserId }: { readonly advertiserId: number }
): string {
  return nameOf(advertisers, advertiserId) ?? t('Advertiser {{id}}', { id: String(advertiserId) })
}
