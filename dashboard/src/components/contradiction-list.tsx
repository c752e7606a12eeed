import type { StatusResponse } from '../../../src/contract/admin.ts'
import { formatInstant, formatNumber } from '../format.ts'
import { useLoaded } from '../loaded.ts'
import { useSession } from '../session.ts'
import { wordsOf } from '../words.ts'
import { Folded, ListToLookAt, type ListPlace } from './list-to-look-at.tsx'
import { Empty } from './notices.tsx'
import { Table } from './table.tsx'
import { t } from '../language.ts'

interface ContradictionListProps extends ListPlace {
  /** The name of a publisher. */
  readonly publisherOf: (id: number) => string
}

/** Whose ad events contradict the catalog. The records are among those set aside. */
export function ContradictionList({ publisherOf, ...place }: ContradictionListProps) {
  const { api } = useSession()
  const status = useLoaded(
    'status',
    async (signal) => await api.get<StatusResponse>('admin/v1/status', signal)
  )
  return (
    <ListToLookAt
      {...place}
      title={t('Ad events that contradict the catalog')}
      about={t(
        'They are not charged. Mend the catalog if it is wrong, then ship them once more; otherwise ask the publisher who made the links.'
      )}
      what={t('the ad events that contradict the catalog')}
      loaded={status}
      countOf={({ contradictions = [] }) => ({ count: contradictions.length, isMore: false })}
    >
      {({ contradictions = [] }) =>
        contradictions.length === 0 ? (
          <Empty>{t('Nothing to look at: no ad event contradicts the catalog.')}</Empty>
        ) : (
          <Folded rows={contradictions.length} isAsked={place.isAsked}>
            <Table
              caption={t('Ad events set aside, by publisher and rule')}
              columns={[
                {
                  name: 'publisher',
                  label: t('Publisher'),
                  cell: (one) => publisherOf(one.publisherId),
                },
                { name: 'rule', label: t('Rule'), cell: ({ rule }) => wordsOf(rule) },
                {
                  name: 'count',
                  label: t('Events'),
                  isFigure: true,
                  cell: ({ count }) => formatNumber(count),
                },
                {
                  name: 'first',
                  label: t('First'),
                  cell: (one) => formatInstant(one.firstSetAsideAt),
                },
                {
                  name: 'last',
                  label: t('Last'),
                  cell: (one) => formatInstant(one.lastSetAsideAt),
                },
              ]}
              rows={contradictions}
              keyOf={({ publisherId, rule }) => `${publisherId} ${rule}`}
            />
          </Folded>
        )
      }
    </ListToLookAt>
  )
}
