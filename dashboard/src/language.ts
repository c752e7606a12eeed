// The texts and the locale of the reader. English stands in the code, where it is used, and is the key of its
// translations (`languages/*.json`). `main.tsx` sets the language before it loads the rest, so texts may also stand in
// constants of modules.
import { createInstance } from 'i18next'
import type { ComponentChild } from 'preact'
import english from './languages/en.json'

export type Translations = Readonly<Record<string, string>>

/** The placeholders of a text: `{{count}} of {{all}}` has `count` and `all`. */
type Placeholder<Text extends string> = Text extends `${string}{{${infer Name}}}${infer Rest}`
  ? Name | Placeholder<Rest>
  : never

type ValuesOf<Text extends string, Value> = [Placeholder<Text>] extends [never]
  ? []
  : [values: Readonly<Record<Placeholder<Text>, Value>>]

const texts = createInstance()

void texts.init({
  lng: 'en',
  fallbackLng: 'en',
  resources: { en: { translation: english } },
  initAsync: false,
  // A text is its own key, with all its points and colons.
  keySeparator: false,
  nsSeparator: false,
  // Preact escapes what it shows.
  interpolation: { escapeValue: false },
})

/** Of numbers and dates: the reader's own where it is of the chosen language. */
export function locale(): string {
  return texts.language
}

export function isEnglish(): boolean {
  return texts.resolvedLanguage === 'en'
}

export interface Language {
  readonly tag: string
  readonly locale: string
  readonly translations: Translations
}

export async function setLanguage({ tag, locale: ofReader, translations }: Language) {
  texts.addResourceBundle(tag, 'translation', translations)
  await texts.changeLanguage(ofReader)
}

/** The text in the reader's language. Numbers among the values are printed in the reader's locale. */
export function t<const Text extends string>(
  text: Text,
  ...[values]: ValuesOf<Text, string | number>
): string {
  const printed = Object.entries<string | number>(values ?? {}).map(([name, value]) => [
    name,
    typeof value === 'number' ? new Intl.NumberFormat(locale()).format(value) : value,
  ])
  return texts.t(text, { replace: Object.fromEntries(printed), ...countOf(values) })
}

/** The same for a text that stands in a document and not in the code. */
export function translate(text: string): string {
  return texts.t(text)
}

/** The same with elements in place of the placeholders: `phrase('Signed in as {{name}}', { name: <b>…</b> })`. */
export function phrase<const Text extends string>(
  text: Text,
  ...[values]: ValuesOf<Text, ComponentChild>
): readonly ComponentChild[] {
  const known: Readonly<Record<string, ComponentChild>> = values ?? {}
  return texts
    .t(text, { skipInterpolation: true, ...countOf(values) })
    .split(/\{\{(\w+)\}\}/u)
    .map((part, index) => (index % 2 === 0 ? part : known[part]))
}

/** The number that decides between singular and plural. */
function countOf(values: object | undefined): { readonly count?: number } {
  const count = values !== undefined && 'count' in values ? values.count : undefined
  return typeof count === 'number' ? { count } : {}
}
