import { useEffect, useRef, useState } from 'preact/hooks'
import type { AdvertiserAccount } from '../../../src/contract/me.ts'
import type { ReportValues } from '../../../src/contract/report-values.ts'
import type { NameOf } from '../filter-names.ts'
import { filterKinds, filterNames, noFilters, type FilterName } from '../groups.ts'
import { latestOf, type Loaded } from '../loaded.ts'
import { useValues } from '../reports.ts'
import type { Changes } from '../router.ts'
import type { View } from '../view.ts'
import { Combobox, type Choice } from './combobox.tsx'
import { t } from '../language.ts'

interface FilterBarProps {
  readonly account: AdvertiserAccount
  readonly view: View
  readonly nameOf: NameOf
  readonly onChange: (changes: Changes) => void
}

/** The filters of everything on the page, as chips, and the field that adds one. */
export function FilterBar({ account, view, nameOf, onChange }: FilterBarProps) {
  const active = filterNames.filter((name) => view.filters[name].length > 0)
  const set = (name: FilterName, values: readonly string[]) =>
    onChange({ [name]: values, page: null })
  return (
    <div class="bar filters" role="search" aria-label={t('Filters')}>
      <AddFilter
        {...{ account, view }}
        onAdd={(name, value) => set(name, [...new Set([...view.filters[name], value])])}
      />
      {active.length > 0 && (
        <ul class="chips" aria-label={t('Filters that are set')}>
          {active.flatMap((name) =>
            view.filters[name].map((value) => (
              <li key={`${name} ${value}`} class="chip">
                <span title={nameOf(name, value)}>
                  {filterKinds[name].label}: <b>{nameOf(name, value)}</b>
                </span>
                <button
                  type="button"
                  aria-label={t('Remove {{filter}}: {{value}}', {
                    filter: filterKinds[name].label,
                    value: nameOf(name, value),
                  })}
                  onClick={() =>
                    set(
                      name,
                      view.filters[name].filter((one) => one !== value)
                    )
                  }
                >
                  ×
                </button>
              </li>
            ))
          )}
          <li>
            <button type="button" onClick={() => onChange({ ...noFilters, page: null })}>
              {t('Clear all')}
            </button>
          </li>
        </ul>
      )}
    </div>
  )
}

interface AddFilterProps extends Pick<FilterBarProps, 'account' | 'view'> {
  readonly onAdd: (name: FilterName, value: string) => void
}

function AddFilter({ account, view, onAdd }: AddFilterProps) {
  const [name, setName] = useState<FilterName>('campaign')
  return (
    <>
      <label>
        <span>{t('Filter by')}</span>
        <select
          value={name}
          onChange={(event) => {
            const chosen = event.currentTarget.value
            setName(filterNames.find((known) => known === chosen) ?? 'campaign')
          }}
        >
          {filterNames.map((one) => (
            <option key={one} value={one}>
              {filterKinds[one].label}
            </option>
          ))}
        </select>
      </label>
      {filterKinds[name].values === null ? (
        <TypedFilter label={filterKinds[name].label} onAdd={(text) => onAdd(name, text)} />
      ) : (
        <ChosenFilter
          key={name}
          {...{ account, view, name }}
          onAdd={(value) => onAdd(name, value)}
        />
      )}
    </>
  )
}

/** The service is asked when the reader pauses. */
const pauseMs = 250

interface ChosenFilterProps extends Pick<FilterBarProps, 'account' | 'view'> {
  readonly name: FilterName
  readonly onAdd: (value: string) => void
}

function ChosenFilter({ account, view, name, onAdd }: ChosenFilterProps) {
  const { label, values: field } = filterKinds[name]
  const [text, setText] = useState('')
  const [isOpen, setIsOpen] = useState(false)
  const sought = usePaused(text.trim())
  const { startDate, endDate } = view
  const asked = isOpen && field !== null ? { field, text: sought, startDate, endDate } : null
  const loaded = useValues(account.id, asked)
  const found = latestOf(loaded)
  const chosen = new Set(view.filters[name])
  const choices = (found?.values ?? []).filter(({ value }) => !chosen.has(value))
  const choose = ({ value }: Choice) => {
    setText('')
    onAdd(value)
  }
  return (
    <Combobox
      {...{ label, text, choices }}
      note={noteOf(loaded, choices.length)}
      onText={setText}
      onOpen={setIsOpen}
      onChoose={choose}
    />
  )
}

function noteOf(loaded: Loaded<ReportValues | null>, count: number): string {
  if (loaded.state === 'failed') return loaded.messages.join(' ')
  if (loaded.state === 'loading') return t('Loading …')
  if (loaded.value?.hasMore === true) return t('There are more: type a part of the name.')
  return count === 0 ? t('Nothing with figures in this period has this in its name.') : ''
}

function usePaused(text: string): string {
  const [paused, setPaused] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setPaused(text), pauseMs)
    return () => clearTimeout(timer)
  }, [text])
  return paused
}

interface TypedFilterProps {
  readonly label: string
  readonly onAdd: (text: string) => void
}

function TypedFilter({ label, onAdd }: TypedFilterProps) {
  const field = useRef<HTMLInputElement>(null)
  return (
    <form
      class="typed"
      onSubmit={(event) => {
        event.preventDefault()
        const text = field.current?.value.trim() ?? ''
        if (text !== '') onAdd(text)
        event.currentTarget.reset()
      }}
    >
      <label>
        <span>{label}</span>
        <input ref={field} type="search" maxLength={500} />
      </label>
      <button type="submit">{t('Add')}</button>
    </form>
  )
}
