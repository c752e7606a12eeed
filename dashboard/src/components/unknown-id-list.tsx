import { useState } from 'preact/hooks'
import type { UnknownId, UnknownIds } from '../../../src/contract/unknown-ids.ts'
import { formatCount, nothing } from '../format.ts'
import { useLoaded } from '../loaded.ts'
import { useSession } from '../session.ts'
import { wordsOf } from '../words.ts'
import { Figure } from './figure.tsx'
import { Empty, Stages, Warning } from './notices.tsx'
import { Table, type TableColumn } from './table.tsx'
import { t } from '../language.ts'

/** Longer lists are shown in full on request. */
const shownFirst = 50

const parents: Readonly<Partial<Record<UnknownId['kind'], string>>> = {
  site: t('Publisher'),
  campaign: t('Advertiser'),
  'ad-group': t('Campaign'),
}

const columns: readonly TableColumn<UnknownId>[] = [
  { name: 'id', label: t('Id'), cell: ({ id }) => <span class="code">{String(id)}</span> },
  { name: 'kind', label: t('Kind'), cell: ({ kind }) => wordsOf(kind) },
  {
    name: 'parent',
    label: t('Of'),
    cell: ({ kind, parentId }) =>
      parentId === undefined ? nothing : `${parents[kind] ?? ''} ${parentId}`,
  },
  {
    name: 'events',
    label: t('Events'),
    isFigure: true,
    cell: ({ events }) => <Figure exact={String(events)} shown={formatCount(String(events))} />,
  },
  {
    name: 'conversions',
    label: t('Purchases received'),
    isFigure: true,
    cell: ({ conversions }) => {
      const exact = conversions === undefined ? null : String(conversions)
      return <Figure exact={exact} shown={formatCount(exact)} />
    },
  },
]

/** Ids in events that the catalog does not have. */
export function UnknownIdList() {
  const { api } = useSession()
  const path = 'admin/v1/unknown-ids'
  const found = useLoaded(path, async (signal) => await api.get<UnknownIds>(path, signal))
  return (
    <section class="card" aria-label={t('Ids the catalog does not have')}>
      <h2>{t('Ids the catalog does not have')}</h2>
      <p class="muted">
        {t(
          'Named over the last 30 days. What names them counts all the same; names and currencies are missing until the catalog has them.'
        )}
      </p>
      <Stages loaded={found} what={t('the unknown ids')}>
        {(value) => <Ids found={value} />}
      </Stages>
    </section>
  )
}

function Ids({ found: { ids, total, complete } }: { readonly found: UnknownIds }) {
  const [isWhole, setIsWhole] = useState(false)
  const shown = isWhole ? ids : ids.slice(0, shownFirst)
  return (
    <>
      {!complete && (
        <Warning>
          {t(
            'So many different ids came in that those named least were not looked at. Somebody may be sending made-up ids.'
          )}
        </Warning>
      )}
      {ids.length === 0 ? (
        complete && <Empty>{t('Nothing to look at: the catalog has every id that came in.')}</Empty>
      ) : (
        <>
          <Table
            caption={t('Ids the catalog does not have, named most first')}
            columns={columns}
            rows={shown}
            keyOf={({ kind, parentId, id }) => `${kind} ${parentId ?? ''} ${id}`}
          />
          <p class="footnote" role="status">
            {t('Shown: {{shown}} of {{total}}, named most first.', { shown: shown.length, total })}
          </p>
          {ids.length > shownFirst && (
            <div class="actions">
              <button type="button" aria-expanded={isWhole} onClick={() => setIsWhole(!isWhole)}>
                {isWhole ? t('Show fewer ids') : t('Show more ids')}
              </button>
            </div>
          )}
        </>
      )}
    </>
  )
}
