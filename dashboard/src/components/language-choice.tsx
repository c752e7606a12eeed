import { t } from '../language.ts'
import { keepLanguage, languages, nameOf, readLanguage } from '../languages.ts'
import { canKeep } from '../storage.ts'

interface LanguageChoiceProps {
  /** Where the page is to be opened again; where it is, when absent. */
  readonly address?: string
}

/** Texts are read once, when the page is loaded, so a change loads it again: the key and the address stay. */
export function LanguageChoice({ address }: LanguageChoiceProps) {
  // Where the browser keeps nothing, the choice and the key would be gone.
  if (!canKeep('localStorage') || !canKeep('sessionStorage')) return null
  const choose = (language: string) => {
    keepLanguage(language)
    if (address !== undefined) history.replaceState(null, '', address)
    location.reload()
  }
  return (
    <label class="language">
      <span>{t('Language')}</span>
      <select value={readLanguage()} onChange={(event) => choose(event.currentTarget.value)}>
        {languages.map((language) => (
          <option key={language} value={language} lang={language}>
            {nameOf(language)}
          </option>
        ))}
      </select>
    </label>
  )
}
