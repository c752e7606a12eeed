import type { UnknownId, UnknownIds } from '../../../src/contract/unknown-ids.ts'
import { formatCount, nothing } from '../format.ts'
import { useLoaded } from '../loaded.ts'
import { useSession } from '../session.ts'
import { wordsOf } from '../words.ts'
import { Figure } from './figure.tsx'
import { Folded, ListToLookAt, type ListPlace } from './list-to-look-at.tsx'
import { Empty, Warning } from './notices.tsx'
import { Table, type TableColumn } from './table.tsx'
import { t } from '../language.ts'

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
export function UnknownIdList(place: ListPlace) {
  const { api } = useSession()
  const path = 'admin/v1/unknown-ids'
  const found = useLoaded(path, async (signal) => await api.get<UnknownIds>(path, signal))
  return (
    <ListToLookAt
      {...place}
      title={t('Ids the catalog does not have')}
      about={t(
        'Named over the last 30 days. What names them counts all the same; names and currencies are missing until the catalog has them.'
      )}
      what={t('the unknown ids')}
      loaded={found}
      countOf={({ total, complete }) => ({ count: total, isMore: !complete })}
    >
      {(value) => <Ids found={value} isAsked={place.isAsked} />}
    </ListToLookAt>
  )
}

interface IdsProps extends Pick<ListPlace, 'isAsked'> {
  readonly found: UnknownIds
}

function Ids({ found: { ids, total, complete }, isAsked }: IdsProps) {
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
        <Folded rows={ids.length} isAsked={isAsked}>
          <Table
            caption={t('Ids the catalog does not have, named most first')}
            columns={columns}
            rows={ids}
            keyOf={({ kind, parentId, id }) => `${kind} ${parentId ?? ''} ${id}`}
          />
          <p class="footnote" role="status">
            {t('Shown: {{shown}} of {{total}}, named most first.', { shown: ids.length, total })}
          </p>
        </Folded>
      )}
    </>
  )
}
