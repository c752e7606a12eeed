import type { AdvertiserAccount } from '../../../src/contract/me.ts'
import { nameOfValue } from '../filter-names.ts'
import { levelsOf, tabs } from '../groups.ts'
import { addressOf, withQuery } from '../router.ts'
import type { View } from '../view.ts'
import { t } from '../language.ts'

interface CrumbsProps {
  readonly account: AdvertiserAccount
  readonly view: View
  readonly query: URLSearchParams
}

/** The way back up: each step is a filter of one value, and going back takes the later ones away. */
export function Crumbs({ account, view, query }: CrumbsProps) {
  const levels = levelsOf(view.filters)
  const [widest] = levels
  if (widest === undefined) return null
  const address = (place: number, group: string) => {
    const dropped = levels.slice(place).map(({ filter }) => [filter, null])
    const next = withQuery(query, {
      ...Object.fromEntries(dropped),
      group,
      page: null,
      columns: null,
    })
    return addressOf(['advertisers', account.id, 'performance'], next)
  }
  return (
    <nav class="crumbs" aria-label={t('Levels')}>
      <a href={address(0, widest.from)}>{tabs[widest.from].down?.all}</a>
      {levels.map(({ filter, to }, place) => {
        const name = nameOfValue(filter, view.filters[filter][0] ?? '', account)
        const isLast = place === levels.length - 1
        return (
          <span key={filter}>
            <span aria-hidden="true"> › </span>
            {isLast ? <b>{name}</b> : <a href={address(place + 1, to)}>{name}</a>}
          </span>
        )
      })}
    </nav>
  )
}
