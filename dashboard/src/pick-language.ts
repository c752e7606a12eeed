interface Asked {
  /** Those that exist; the first one is for readers of none of them. */
  readonly languages: readonly string[]
  readonly chosen: string | null
  /** The reader's locales, the dearest first. */
  readonly preferred: readonly string[]
}

export interface Picked {
  readonly tag: string
  /** A reader in Vienna who chooses German keeps Austrian numbers. */
  readonly locale: string
}

export function pickLanguage({ languages, chosen, preferred }: Asked): Picked {
  const locales = preferred.filter(isLocale)
  const tag =
    languages.find((language) => language === chosen) ??
    locales
      .map((locale) => languages.find((language) => isOf(locale, language)))
      .find((language) => language !== undefined) ??
    languages[0] ??
    'en'
  return { tag, locale: locales.find((locale) => isOf(locale, tag)) ?? tag }
}

function isOf(locale: string, language: string): boolean {
  return `${locale}-`.startsWith(`${language}-`)
}

/** Some browsers on Linux give names such as `en-US@posix`, at which `Intl` throws. */
function isLocale(name: string): boolean {
  try {
    return Intl.getCanonicalLocales(name).length > 0
  } catch {
    return false
  }
}
