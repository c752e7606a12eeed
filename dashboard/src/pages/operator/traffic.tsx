import type { StatusResponse } from '../../../../src/contract/admin.ts'
import { Figure } from '../../components/figure.tsx'
import { Empty, Stages } from '../../components/notices.tsx'
import { Table } from '../../components/table.tsx'
import { formatCount, formatPercent } from '../../format.ts'
import { useLoaded } from '../../loaded.ts'
import { useSession } from '../../session.ts'
import { wordsOf } from '../../words.ts'
import { t } from '../../language.ts'

/** Events that do not count, by reason. */
export function Traffic() {
  const { api } = useSession()
  const status = useLoaded(
    'status',
    async (signal) => await api.get<StatusResponse>('admin/v1/status', signal)
  )
  return (
    <>
      <div class="head">
        <h1>{t('Traffic quality')}</h1>
        <p class="muted">{t('What came in over the last 30 days and does not count')}</p>
      </div>
      <Stages loaded={status} what={t('the counts')}>
        {(value) => <Reasons status={value} />}
      </Stages>
    </>
  )
}

function Reasons({ status }: { readonly status: StatusResponse }) {
  if (status.uncounted === undefined) {
    return <Empty>{t('The warehouse does not answer, and only it knows the counts.')}</Empty>
  }
  const total = Object.values(status.uncounted).reduce((sum, count) => sum + count, 0)
  const reasons = Object.entries(status.uncounted).toSorted(([, one], [, other]) => other - one)
  return (
    <>
      <section class="card" aria-label={t('By reason')}>
        <h2>{t('By reason')}</h2>
        {reasons.length === 0 ? (
          <Empty>{t('Everything that came in counts.')}</Empty>
        ) : (
          <Table
            caption={t('Events and purchases that do not count, by reason')}
            columns={[
              { name: 'reason', label: t('Reason'), cell: ([reason]) => wordsOf(reason) },
              {
                name: 'count',
                label: t('Events'),
                isFigure: true,
                cell: ([, count]) => (
                  <Figure exact={String(count)} shown={formatCount(String(count))} />
                ),
              },
              {
                name: 'share',
                label: t('Share of what does not count'),
                cell: ([reason, count]) => (
                  <>
                    <meter
                      min={0}
                      max={total}
                      value={count}
                      aria-label={t('Share of {{reason}}', { reason: wordsOf(reason) })}
                    />{' '}
                    {formatPercent((count / Math.max(total, 1)).toFixed(6))}
                  </>
                ),
              },
            ]}
            rows={reasons}
            keyOf={([reason]) => reason}
          />
        )}
      </section>
      <section class="card" aria-label={t('Conflicts')}>
        <h2>{t('Conflicts and rows set aside')}</h2>
        <p>
          {t('{{count}} purchases were sent again with other content; the first delivery stands.', {
            count: status.conflicts ?? 0,
          })}{' '}
          {t('{{count}} records could not be shipped and wait to be replayed.', {
            count: status.setAside ?? 0,
          })}
        </p>
      </section>
    </>
  )
}
