import { ConflictList } from '../../components/conflict-list.tsx'
import { SetAsideList } from '../../components/set-aside-list.tsx'
import { UnconvertedList } from '../../components/unconverted-list.tsx'
import { UnknownIdList } from '../../components/unknown-id-list.tsx'

/** What does not count or does not fit; each list is asked for, and may fail, by itself. */
export function ToLookAt() {
  return (
    <>
      <div class="head">
        <h1>To look at</h1>
        <p class="muted">What does not count or does not fit</p>
      </div>
      <SetAsideList />
      <UnconvertedList />
      <ConflictList />
      <UnknownIdList />
    </>
  )
}
