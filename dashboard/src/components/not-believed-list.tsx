import type { StatusResponse } from '../../../src/contract/admin.ts'
import type {
  BelieveEverybody,
  NotBelievedOfAll,
  NotBelievedOfPublisher,
} from '../../../src/contract/not-believed.ts'
import { formatCount, formatInstant, formatMoney, nothing } from '../format.ts'
import { useLoaded } from '../loaded.ts'
import { useSession } from '../session.ts'
import { wordsOf } from '../words.ts'
import { Figure } from './figure.tsx'
import { Folded, ListToLookAt, type ListPlace } from './list-to-look-at.tsx'
import { Empty, Warning } from './notices.tsx'
import { Table, type TableColumn } from './table.tsx'
import { t } from '../language.ts'

interface NotBelievedListProps extends ListPlace {
  /** The name of a publisher. */
  readonly publisherOf: (id: number) => string
}

const columnsWith = ({
  publisherOf,
}: Pick<NotBelievedListProps, 'publisherOf'>): readonly TableColumn<NotBelievedOfPublisher>[] => [
  { name: 'publisher', label: t('Publisher'), cell: ({ publisherId }) => publisherOf(publisherId) },
  { name: 'kind', label: t('Kind'), cell: ({ kind }) => wordsOf(kind) },
  { name: 'reason', label: t('Reason'), cell: ({ reason }) => wordsOf(reason) },
  {
    name: 'deliveries',
    label: t('Deliveries'),
    isFigure: true,
    cell: ({ deliveries }) => (
      <Figure exact={String(deliveries)} shown={formatCount(String(deliveries))} />
    ),
  },
  {
    name: 'value',
    label: t('Value'),
    isFigure: true,
    cell: ({ values }) =>
      values.length === 0
        ? nothing
        : values.map(({ currency, value }) => formatMoney(value, currency)).join(', '),
  },
  {
    name: 'first',
    label: t('First received'),
    cell: ({ firstReceivedAt }) => formatInstant(firstReceivedAt),
  },
  {
    name: 'last',
    label: t('Last received'),
    cell: ({ lastReceivedAt }) => formatInstant(lastReceivedAt),
  },
]

/** Purchases and returns that came without a key that counts, or from elsewhere. */
export function NotBelievedList({ publisherOf, ...place }: NotBelievedListProps) {
  const { api } = useSession()
  const path = 'admin/v1/status'
  const status = useLoaded(path, async (signal) => await api.get<StatusResponse>(path, signal))
  return (
    <ListToLookAt
      {...place}
      title={t('Deliveries that are not believed')}
      about={t(
        'Purchases and returns of the last 30 days that came without a key that counts, or from an address that is not on the list of the publisher. They are kept and do not count.'
      )}
      what={t('the deliveries that are not believed')}
      loaded={status}
      countOf={({ notBelieved }) =>
        notBelieved === undefined ? null : { count: notBelieved.total, isMore: false }
      }
    >
      {({ notBelieved, believeEverybody }) => (
        <>
          {believeEverybody !== undefined && <Everybody found={believeEverybody} />}
          {notBelieved === undefined ? (
            <Warning>{t('The warehouse does not answer.')}</Warning>
          ) : (
            <Groups found={notBelieved} publisherOf={publisherOf} isAsked={place.isAsked} />
          )}
        </>
      )}
    </ListToLookAt>
  )
}

function Everybody({ found: { publishers, total } }: { readonly found: BelieveEverybody }) {
  if (total === 0) return null
  const names = publishers.map(({ id, name }) => `${name} (${id})`).join(', ')
  const more = total - publishers.length
  return (
    <Warning>
      {t(
        'Anybody can report purchases of these publishers, since they neither require a key nor list addresses: {{names}}.',
        { names: more > 0 ? t('{{names}}, and {{count}} more', { names, count: more }) : names }
      )}
    </Warning>
  )
}

interface GroupsProps extends Pick<NotBelievedListProps, 'publisherOf' | 'isAsked'> {
  readonly found: NotBelievedOfAll
}

function Groups({ found, publisherOf, isAsked }: GroupsProps) {
  const { groups, total } = found
  if (groups.length === 0)
    return <Empty>{t('Nothing to look at: every delivery is believed.')}</Empty>
  return (
    <Folded rows={groups.length} isAsked={isAsked}>
      <Table
        caption={t('Deliveries that are not believed, most first')}
        columns={columnsWith({ publisherOf })}
        rows={groups}
        keyOf={({ publisherId, kind, reason }) => `${publisherId} ${kind} ${reason}`}
      />
      {total > groups.length && (
        <p class="footnote" role="status">
          {t('Shown: {{shown}} of {{total}}, most first.', { shown: groups.length, total })}
        </p>
      )}
    </Folded>
  )
}
