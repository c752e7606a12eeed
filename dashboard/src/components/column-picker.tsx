import { columns, columnsOfTab, type ColumnName } from '../columns.ts'
import type { Changes } from '../router.ts'
import type { View } from '../view.ts'
import { Popup } from './popup.tsx'
import { t } from '../language.ts'

interface ColumnPickerProps {
  readonly view: View
  readonly onChange: (changes: Changes) => void
}

export function ColumnPicker({ view, onChange }: ColumnPickerProps) {
  const [, ...choices] = columnsOfTab(view.tab)
  const toggle = (name: ColumnName) => {
    const next = choices.filter((one) => (one === name) !== view.columns.includes(one))
    // A table needs more than names.
    if (next.length > 0) onChange({ columns: next.join(',') })
  }
  return (
    <Popup summary={t('Columns')}>
      <fieldset>
        <legend class="unseen">{t('Columns of the table')}</legend>
        {choices.map((name) => (
          <label key={name}>
            <input
              type="checkbox"
              checked={view.columns.includes(name)}
              onChange={() => toggle(name)}
            />
            {columns[name].label}
          </label>
        ))}
        <button type="button" onClick={() => onChange({ columns: choices.join(',') })}>
          {t('All')}
        </button>
        <button type="button" onClick={() => onChange({ columns: null })}>
          {t('Default')}
        </button>
      </fieldset>
    </Popup>
  )
}
