import type { Row } from '../columns.ts'
import { tabs } from '../groups.ts'
import { addressOf, withQuery } from '../router.ts'
import { carriedOn, type View } from '../view.ts'
import { t } from '../language.ts'

interface GroupNameProps {
  readonly row: Row
  readonly advertiserId: number
  readonly view: View
  readonly query: URLSearchParams
}

/** Leads one level down, or to the page of the product; without an id there is nowhere to lead. */
export function GroupName({ row, advertiserId, view, query }: GroupNameProps) {
  const { name, down } = tabs[view.tab]
  const text = row[name]
  if (down === null) {
    const gtin = row['GTIN'] ?? ''
    const kept = carriedOn(query, ['chart', 'compare', 'metric'])
    const title = text === '' || text === null ? gtin : text
    return (
      <a class="title" href={addressOf(['advertisers', advertiserId, 'products', gtin], kept)}>
        {title}
      </a>
    )
  }
  const value = row[down.value] ?? ''
  if (value === '') return <span class="muted">{down.nameless}</span>
  const next = withQuery(query, {
    group: down.tab,
    [down.filter]: [value],
    page: null,
    columns: null,
  })
  return (
    <a class="title" href={addressOf(['advertisers', advertiserId, 'performance'], next)}>
      {text === '' ? t('No name ({{value}})', { value }) : text}
    </a>
  )
}
