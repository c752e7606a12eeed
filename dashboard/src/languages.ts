// Which languages there are, and which one the reader gets. A file in `languages`, named after its tag, adds one.
import { setLanguage, type Translations } from './language.ts'
import { pickLanguage } from './pick-language.ts'
import { openKept } from './storage.ts'

const files = import.meta.glob<Translations>(['./languages/*.json', '!./languages/en.json'], {
  import: 'default',
})

const kept = openKept('localStorage', 'shelftrace.language')

export const languages: readonly string[] = ['en', ...Object.keys(files).map(tagOf)]

function tagOf(path: string): string {
  return path.slice('./languages/'.length, -'.json'.length)
}

/** In its own words, as its readers look for it. */
export function nameOf(language: string): string {
  return new Intl.DisplayNames([language], { type: 'language' }).of(language) ?? language
}

export function keepLanguage(language: string): void {
  kept.keep(language)
}

function picked() {
  return pickLanguage({ languages, chosen: kept.read(), preferred: navigator.languages })
}

/** The chosen one, or the first of the browser's that exists. */
export function readLanguage(): string {
  return picked().tag
}

export async function startLanguage(): Promise<void> {
  const { tag, locale } = picked()
  const load = files[`./languages/${tag}.json`]
  try {
    await setLanguage({ tag, locale, translations: (await load?.()) ?? {} })
    document.documentElement.lang = locale
  } catch {
    // The file cannot be had: the dashboard is there in English.
  }
}
