/** The longest tags in use have some 40 letters; well-formed ones could go on for ever. */
const tagLengthMax = 100

/**
 * The canonical language of a BCP 47 tag (`deu` is `de`), or null when the tag is malformed. `de`,
 * `de-DE` and `de_DE` are alike.
 */
export function parseLanguage(tag: string): string | null {
  if (tag.length > tagLengthMax) return null
  try {
    return new Intl.Locale(tag.replaceAll('_', '-')).language
  } catch {
    // The constructor throws for one reason only: the tag is malformed.
    return null
  }
}
