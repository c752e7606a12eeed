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
      Keep me signed in on this computer for {keptDays} days
    </label>
  )
}
