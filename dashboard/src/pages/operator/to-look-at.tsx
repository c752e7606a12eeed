import { useEffect, useState } from 'preact/hooks'
import { usePublisherNames } from '../../advertisers.ts'
import { ContradictionList } from '../../components/contradiction-list.tsx'
import { ConflictList } from '../../components/conflict-list.tsx'
import type { RowCount } from '../../components/list-to-look-at.tsx'
import { CountTile } from '../../components/live-tiles.tsx'
import { NotBelievedList } from '../../components/not-believed-list.tsx'
import { SetAsideList } from '../../components/set-aside-list.tsx'
import { UnconvertedList } from '../../components/unconverted-list.tsx'
import { UnknownIdList } from '../../components/unknown-id-list.tsx'
import { t } from '../../language.ts'
import type { OperatorPageProps } from '../../page-table.ts'
import { listAddress } from '../../router.ts'

const lists = [
  { id: 'not-believed', label: t('Not believed'), List: NotBelievedList },
  { id: 'contradictions', label: t('Against the catalog'), List: ContradictionList },
  { id: 'set-aside', label: t('Set aside'), List: SetAsideList },
  { id: 'unconverted', label: t('Without a rate'), List: UnconvertedList },
  { id: 'conflicts', label: t('Conflicting repeats'), List: ConflictList },
  { id: 'unknown-ids', label: t('Unknown ids'), List: UnknownIdList },
] as const

type ListId = (typeof lists)[number]['id']
type Counts = Readonly<Partial<Record<ListId, RowCount | null>>>

/** Data that does not count or does not fit. Each list is loaded, and may fail, on its own. */
export function ToLookAt({ query }: Pick<OperatorPageProps, 'query'>) {
  const publisherOf = usePublisherNames()
  const [counts, setCounts] = useState<Counts>({})
  const asked = query.get('list')
  const areKnown = lists.every(({ id }) => counts[id] !== undefined)
  useEffect(() => {
    // Lists that come later would push it away.
    if (asked !== null && areKnown) show(asked)
  }, [asked, areKnown])
  return (
    <>
      <div class="head">
        <h1>{t('To look at')}</h1>
        <p class="muted">{t('What does not count or does not fit')}</p>
      </div>
      <dl class="tiles of-six" aria-label={t('How much there is')}>
        {lists.map(({ id, label }) => (
          <CountTile
            key={id}
            label={label}
            count={counts[id]?.count}
            isMore={counts[id]?.isMore ?? false}
            leadsTo={listAddress(id)}
            // The address stays as it is where it names the list already.
            onFollow={() => show(id)}
          />
        ))}
      </dl>
      {lists.map(({ id, List }) => (
        <List
          key={id}
          id={id}
          isAsked={asked === id}
          onCount={(count) => setCounts((known) => ({ ...known, [id]: count }))}
          publisherOf={publisherOf}
        />
      ))}
    </>
  )
}

function show(id: string): void {
  const list = document.getElementById(id)
  list?.focus({ preventScroll: true })
  list?.scrollIntoView()
}
