import { usePublisherNames } from '../../advertisers.ts'
import { ContradictionList } from '../../components/contradiction-list.tsx'
import { ConflictList } from '../../components/conflict-list.tsx'
import { NotBelievedList } from '../../components/not-believed-list.tsx'
import { SetAsideList } from '../../components/set-aside-list.tsx'
import { UnconvertedList } from '../../components/unconverted-list.tsx'
import { UnknownIdList } from '../../components/unknown-id-list.tsx'
import { t } from '../../language.ts'

/** Data that does not count or does not fit. Each list is loaded, and may fail, on its own. */
export function ToLookAt() {
  const publisherOf = usePublisherNames()
  return (
    <>
      <div class="head">
        <h1>{t('To look at')}</h1>
        <p class="muted">{t('What does not count or does not fit')}</p>
      </div>
      <NotBelievedList publisherOf={publisherOf} />
      <ContradictionList publisherOf={publisherOf} />
      <SetAsideList />
      <UnconvertedList />
      <ConflictList publisherOf={publisherOf} />
      <UnknownIdList />
    </>
  )
}
