import { t } from '../language.ts'
import { keptDays } from '../session.ts'

interface KeepSignedInProps {
  readonly isKept: boolean
  readonly onChange: (isKept: boolean) => void
}

export function KeepSignedIn({ isKept, onChange }: KeepSignedInProps) {
  return (
    <label class="keep">
      <input
        type="checkbox"
        checked={isKept}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      {t('Keep me signed in on this computer for {{count}} days', { count: keptDays })}
    </label>
  )
}
