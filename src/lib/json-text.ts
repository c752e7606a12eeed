/** Text that JSON writes as it is. Surrogates are left out, because JSON escapes those that stand alone. */
const unescaped = /^[ !#-[\]-\ud7ff\ue000-\uffff]*$/

/** The JSON of a text, equal to that of `JSON.stringify`, in half the time. */
export function quoted(text: string): string {
  return unescaped.test(text) ? `"${text}"` : JSON.stringify(text)
}
