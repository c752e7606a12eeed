import type { TargetedKeyboardEvent } from 'preact'
import { useState } from 'preact/hooks'
import type { NameOf } from '../filter-names.ts'
import type { MarketDays } from '../periods.ts'
import { currencyLabel, currencyParameter } from '../shown-currency.ts'
import { profileNames, profiles, type View } from '../view.ts'
import { BaseChoice, baseSwitched } from './base-choice.tsx'
import { daysChange, movedDays, PeriodChoice, periodChange } from './period-choice.tsx'
import { PrintHead } from './print-head.tsx'
import { descriptionOf, Words } from './term.tsx'
import { t } from '../language.ts'

interface PeriodBarProps {
  readonly view: View
  /** What the filters are called on paper. */
  readonly nameOf?: NameOf
  readonly market: MarketDays
  readonly currencies: readonly string[]
  readonly currency: string
  /** Whether the page compares its figures with those of other days. */
  readonly hasBase?: boolean
  /** The first day with figures; null where that is not known. */
  readonly firstDay?: string | null
  readonly onChange: (changes: Readonly<Record<string, string | null>>) => void
}

const asItIs: NameOf = (_filter, value) => value

/** Chooses the days, the attribution profile and the currency, on which every figure of a page depends. */
export function PeriodBar(props: PeriodBarProps) {
  const { view, market, currencies, currency, onChange } = props
  const { nameOf = asItIs, hasBase = true, firstDay = null } = props
  const [isOpen, setIsOpen] = useState(false)
  const press = (event: TargetedKeyboardEvent<HTMLDivElement>) => {
    const changes = isTyping(event) ? null : changesByKey(event.key, props)
    if (changes === null) return
    event.preventDefault()
    onChange(changes)
  }
  return (
    // The keys are a short way to what its buttons do; they work only here, so that they disturb no assistive program.
    // oxlint-disable-next-line jsx-a11y/no-static-element-interactions
    <div class="bar period-bar" onKeyDown={press}>
      <PrintHead {...{ view, nameOf, currency }} />
      <PeriodChoice {...{ view, market, firstDay, onChange }} />
      <button
        type="button"
        class="phone-only"
        aria-expanded={isOpen}
        onClick={() => setIsOpen(!isOpen)}
      >
        {t('More')}
      </button>
      <div class={`choices ${isOpen ? 'open' : ''}`}>
        {hasBase && <BaseChoice {...{ view, onChange }} />}
        <ProfileChoice {...{ view, onChange }} />
        {currencies.length > 1 && (
          <label>
            <span>{t('Currency')}</span>
            <select
              value={currency}
              onChange={(event) =>
                onChange({ currency: currencyParameter(event.currentTarget.value), page: null })
              }
            >
              {currencies.map((code) => (
                <option key={code} value={code}>
                  {currencyLabel(code)}
                </option>
              ))}
            </select>
          </label>
        )}
      </div>
    </div>
  )
}

function ProfileChoice({ view, onChange }: Pick<PeriodBarProps, 'view' | 'onChange'>) {
  return (
    <label>
      <Words term="profile">{t('Attribution')}</Words>
      <select
        aria-describedby={descriptionOf('profile')}
        value={view.profile}
        onChange={(event) => onChange({ profile: event.currentTarget.value, page: null })}
      >
        {profiles.map((profile) => (
          <option key={profile} value={profile}>
            {profileNames[profile]}
          </option>
        ))}
      </select>
    </label>
  )
}

const periodsByKey: Readonly<Record<string, string>> = {
  d: 'today',
  w: 'week',
  m: 'month',
  y: 'year',
}

function changesByKey(
  key: string,
  { view, market, hasBase = true }: PeriodBarProps
): Readonly<Record<string, string | null>> | null {
  const name = periodsByKey[key.toLowerCase()]
  if (name !== undefined) return periodChange(name)
  if (key.toLowerCase() === 'x' && hasBase) return baseSwitched(view)
  const direction = { ArrowLeft: -1 as const, ArrowRight: 1 as const }[key]
  if (direction === undefined) return null
  const moved = movedDays(view, direction)
  return moved === null || moved.startDate > market.newest ? null : daysChange(moved)
}

function isTyping({ target, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  if (ctrlKey || metaKey || altKey) return true
  return target instanceof HTMLInputElement || target instanceof HTMLSelectElement
}
