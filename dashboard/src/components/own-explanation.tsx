import { Figure } from './figure.tsx'
import type { OwnExplanation } from '../../../src/contract/explanation.ts'
import { formatDuration, formatInstant, formatMoney, formatNumber } from '../format.ts'
import { useLoaded } from '../loaded.ts'
import { addressOf } from '../router.ts'
import { useSession } from '../session.ts'
import { profileNames, profiles } from '../view.ts'
import { countOf, ruleWords, wordsOf } from '../words.ts'
import { Empty, Stages, Warning } from './notices.tsx'
import { Table, type TableColumn } from './table.tsx'

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
        <a href={addressOf(['advertisers', advertiserId, 'purchases'], query)}>← All purchases</a>
      </p>
      <div class="head">
        <h1>
          Purchase <span class="code">{transactionId}</span>
        </h1>
      </div>
      <Stages loaded={explanation} what="the explanation">
        {(value) => <Explained explanation={value} />}
      </Stages>
    </>
  )
}

type Line = OwnExplanation['lines'][number]
type Candidate = Line['candidates'][number]

function Explained({ explanation }: { readonly explanation: OwnExplanation }) {
  return (
    <>
      <p class="muted">
        Bought {formatInstant(explanation.purchasedAt)}, attributed as of{' '}
        {formatInstant(explanation.readAt)}
      </p>
      {explanation.isPending && (
        <Warning>A newer attribution of this purchase is on its way.</Warning>
      )}
      {explanation.lines.map((line) => (
        <LineCard key={line.line} line={line} currency={explanation.currency} />
      ))}
      {explanation.linesLeftOut > 0 && (
        <p class="footnote">{formatNumber(explanation.linesLeftOut)} more lines are not listed.</p>
      )}
    </>
  )
}

interface LineCardProps {
  readonly line: Line
  readonly currency: string
}

const creditedTo = { you: 'You', another: 'Another advertiser', nobody: 'Nobody' } as const

function LineCard({ line, currency }: LineCardProps) {
  return (
    <section class="card" aria-label={`Line ${line.line}`}>
      <h2>
        Line {line.line}: <span class="code">{line.gtin}</span>
      </h2>
      <p>
        {countOf(line.quantity, 'unit')},{' '}
        <Figure exact={line.value} shown={formatMoney(line.value, currency)} />
      </p>
      <Table
        caption={`Who is credited for line ${line.line}`}
        columns={[
          { name: 'profile', label: 'Attribution', cell: (profile) => profileNames[profile] },
          {
            name: 'to',
            label: 'Credited to',
            cell: (profile) => creditedTo[line.credits[profile].creditedTo],
          },
          { name: 'rule', label: 'For', cell: (profile) => ruleOf(line, profile) },
        ]}
        rows={profiles}
        keyOf={(profile) => profile}
      />
      {line.candidates.length === 0 ? (
        <Empty>No click or impression of yours is listed.</Empty>
      ) : (
        <Table
          caption={`Your clicks and impressions before line ${line.line}`}
          columns={candidateColumns}
          rows={line.candidates}
          keyOf={(_candidate, index) => String(index)}
        />
      )}
      <p class="footnote">
        {line.candidatesLeftOut > 0 &&
          `${formatNumber(line.candidatesLeftOut)} more of yours are not listed. `}
        {line.otherAdvertisersCandidates > 0 &&
          `${countOf(line.otherAdvertisersCandidates, 'touchpoint')} of other advertisers might have earned the line.`}
      </p>
    </section>
  )
}

function ruleOf(line: Line, profile: (typeof profiles)[number]): string {
  const { credit } = line.credits[profile]
  if (credit === null) return wordsOf(null)
  return `${ruleWords(credit.rule)}, ${formatDuration(credit.msBeforePurchase)} before`
}

const candidateColumns: readonly TableColumn<Candidate>[] = [
  { name: 'kind', label: 'Kind', cell: ({ kind }) => wordsOf(kind) },
  { name: 'at', label: 'When', cell: ({ touchedAt }) => formatInstant(touchedAt) },
  {
    name: 'before',
    label: 'Before the purchase',
    isFigure: true,
    cell: ({ msBeforePurchase }) => formatDuration(msBeforePurchase),
  },
  { name: 'gtin', label: 'Advertised', cell: ({ gtin }) => <span class="code">{gtin}</span> },
  { name: 'adGroup', label: 'Ad group', cell: ({ adGroupId }) => String(adGroupId) },
  ...profiles.map((profile) => ({
    name: profile,
    label: profileNames[profile],
    cell: ({ outcomes }: Candidate) => wordsOf(outcomes[profile]),
  })),
]
