import type { Conflict, ConflictPage } from '../../../src/contract/conflicts.ts'
import { formatCount, formatInstant, nothing } from '../format.ts'
import { useLoaded } from '../loaded.ts'
import { addressOf } from '../router.ts'
import { useSession } from '../session.ts'
import { Figure } from './figure.tsx'
import { Folded, ListToLookAt, type ListPlace } from './list-to-look-at.tsx'
import { Empty } from './notices.tsx'
import { Table, type TableColumn } from './table.tsx'
import { t } from '../language.ts'

interface ConflictListProps extends ListPlace {
  /** The name of a publisher. */
  readonly publisherOf: (id: number) => string
}

const columnsWith = ({
  publisherOf,
}: Pick<ConflictListProps, 'publisherOf'>): readonly TableColumn<Conflict>[] => [
  { name: 'transaction', label: t('Transaction'), cell: (row) => <Purchase conflict={row} /> },
  { name: 'publisher', label: t('Publisher'), cell: ({ publisherId }) => publisherOf(publisherId) },
  { name: 'return', label: t('Return'), cell: ({ returnId }) => returnId ?? nothing },
  {
    name: 'deliveries',
    label: t('Deliveries'),
    isFigure: true,
    cell: ({ deliveries }) => <Count count={deliveries} />,
  },
  {
    name: 'void',
    label: t('Of them void'),
    isFigure: true,
    cell: ({ voidDeliveries }) => <Count count={voidDeliveries} />,
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

/** Purchases and returns that were repeated with different content; each links to its explanation. */
export function ConflictList({ publisherOf, ...place }: ConflictListProps) {
  const { api } = useSession()
  const path = 'admin/v1/conflicts?limit=100'
  const page = useLoaded(path, async (signal) => await api.get<ConflictPage>(path, signal))
  return (
    <ListToLookAt
      {...place}
      title={t('Conflicting repeats')}
      about={t(
        'Purchases and returns of the last 30 days that came again with other content. At most one delivery of each counts; a wrong one of a purchase can be made void.'
      )}
      what={t('the conflicting repeats')}
      loaded={page}
      countOf={({ total }) => ({ count: total, isMore: false })}
    >
      {({ conflicts, total }) =>
        conflicts.length === 0 ? (
          <Empty>{t('Nothing to look at: no repeat differs from what came before.')}</Empty>
        ) : (
          <Folded rows={conflicts.length} isAsked={place.isAsked}>
            <Table
              caption={t('Conflicting repeats, newest first')}
              columns={columnsWith({ publisherOf })}
              rows={conflicts}
              keyOf={(_row, index) => String(index)}
            />
            <p class="footnote">
              {t('Shown: {{shown}} of {{total}}, newest first.', {
                shown: conflicts.length,
                total,
              })}
            </p>
          </Folded>
        )
      }
    </ListToLookAt>
  )
}

function Purchase({ conflict }: { readonly conflict: Conflict }) {
  const { publisherId, transactionId } = conflict
  // Purchases are looked up by ids that a catalog can have.
  if (publisherId < 1) return <span class="code">{transactionId}</span>
  return (
    <a class="code" href={addressOf(['operator', 'lookup', publisherId, transactionId])}>
      {transactionId}
    </a>
  )
}

function Count({ count }: { readonly count: number }) {
  return <Figure exact={String(count)} shown={formatCount(String(count))} />
}
