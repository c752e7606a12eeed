import type { StatusResponse } from '../../../src/contract/admin.ts'
import { formatInstant, formatNumber } from '../format.ts'
import { useLoaded } from '../loaded.ts'
import { useSession } from '../session.ts'
import { wordsOf } from '../words.ts'
import { Empty, Stages } from './notices.tsx'
import { Table } from './table.tsx'
import { t } from '../language.ts'

interface ContradictionListProps {
  /** The name of a publisher. */
  readonly publisherOf: (id: number) => string
}

/** Whose ad events contradict the catalog. The records are among those set aside. */
export function ContradictionList({ publisherOf }: ContradictionListProps) {
  const { api } = useSession()
  const status = useLoaded(
    'status',
    async (signal) => await api.get<StatusResponse>('admin/v1/status', signal)
  )
  return (
    <section class="card" aria-label={t('Ad events that contradict the catalog')}>
      <h2>{t('Ad events that contradict the catalog')}</h2>
      <p class="muted">
        {t(
          'They are not charged. Mend the catalog if it is wrong, then ship them once more; otherwise ask the publisher who made the links.'
        )}
      </p>
      <Stages loaded={status} what={t('the ad events that contradict the catalog')}>
        {({ contradictions = [] }) =>
          contradictions.length === 0 ? (
            <Empty>{t('Nothing to look at: no ad event contradicts the catalog.')}</Empty>
          ) : (
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
          )
        }
      </Stages>
    </section>
  )
}
