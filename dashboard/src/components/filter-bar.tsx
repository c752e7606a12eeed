import type { AdvertiserAccount } from '../../../src/contract/me.ts'
import { useEffect, useRef, useState } from 'preact/hooks'
import { addressOf, replaceWith, withQuery } from '../router.ts'
import type { View } from '../view.ts'

interface FilterBarProps {
  readonly account: AdvertiserAccount
  readonly view: View
  readonly query: URLSearchParams
  readonly onChange: (changes: Readonly<Record<string, string | null>>) => void
}

/** Typed text becomes part of the address when the reader pauses. */
const pauseMs = 400

export function FilterBar({ account, view, query, onChange }: FilterBarProps) {
  const ownIds = new Set(account.publishers.flatMap(({ marketIds }) => marketIds))
  // An advertiser without any entry of access may advertise everywhere.
  const markets = account.markets.filter(({ id }) => ownIds.size === 0 || ownIds.has(id))
  const replace = (changes: Readonly<Record<string, string | null>>) =>
    replaceWith(addressOf(['advertisers', account.id, 'performance'], withQuery(query, changes)))
  const { title, brand, gtin, market } = view.filters
  return (
    <div class="bar filters" role="search" aria-label="Filter products">
      <TypedFilter
        label="Search title"
        value={title}
        onType={(text) => replace({ title: text, page: null })}
      />
      <TypedFilter
        label="Brand"
        value={brand}
        onType={(text) => replace({ brand: text, page: null })}
      />
      <TypedFilter
        label="GTIN"
        value={gtin}
        onType={(text) => replace({ gtin: text, page: null })}
      />
      <label>
        <span>Market</span>
        <select
          value={market}
          onChange={(event) => onChange({ market: event.currentTarget.value, page: null })}
        >
          <option value="">All</option>
          {market !== '' && markets.every(({ code }) => code !== market) && (
            <option value={market}>{market}</option>
          )}
          {markets.map(({ id, code }) => (
            <option key={id} value={code}>
              {code}
            </option>
          ))}
        </select>
      </label>
    </div>
  )
}

interface TypedFilterProps {
  readonly label: string
  readonly value: string
  readonly onType: (text: string) => void
}

function TypedFilter({ label, value, onType }: TypedFilterProps) {
  const [text, setText] = useState(value)
  const latest = useRef(onType)
  latest.current = onType
  useEffect(() => setText(value), [value])
  useEffect(() => {
    if (text === value) return undefined
    const timer = setTimeout(() => latest.current(text), pauseMs)
    return () => clearTimeout(timer)
  }, [text, value])
  return (
    <label>
      <span>{label}</span>
      <input
        type="search"
        value={text}
        maxLength={500}
        onInput={(event) => setText(event.currentTarget.value)}
      />
    </label>
  )
}
