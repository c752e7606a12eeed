// Which texts a spreadsheet turns into other values when it opens a file: the code 12E5 becomes 1200000, and MAR1 the
// first of March. Rather too many than too few, since a text that is protected in vain still reads as it is spelled.

/** Those of the headings of reports. Nothing says in which language the reader's spreadsheet is. */
const languages = ['en', 'de', 'fr', 'es', 'it', 'nl', 'pl']
/** Of March in German and Dutch; other short names are the beginning of the long ones. */
const otherMonths = ['mrz', 'mrt']
/** Excel takes this many letters of a month for its name. */
const monthLettersMin = 3

/** Of exponents and hours, and of dates and times in Chinese and Japanese. They count behind a number alone. */
const unitWords = new Set(['e', 'a', 'am', 'p', 'pm', '年', '月', '日', '時', '时', '分', '秒'])

/** TRUE and FALSE in these languages. */
const truths = new Set([
  'true',
  'false',
  'wahr',
  'falsch',
  'vrai',
  'faux',
  'verdadero',
  'falso',
  'vero',
  'waar',
  'onwaar',
  'prawda',
  'fałsz',
])

/**
 * Digits, words, and what stands between them in a number, a price, a date or a time. With an apostrophe in front, as
 * the service sets it before what would run as a formula, it is a text already.
 */
const valueForm = /^(?!')[\p{Nd}\p{L}\p{Sc} .,:/+\-−()%'’]+$/u

/** Tells whether a spreadsheet may read a text as a number, a date, a time, or as TRUE or FALSE. */
export function createValueGuess(): (text: string) => boolean {
  const months = listMonths()
  const isMonth = (word: string) =>
    word.length >= monthLettersMin && months.some((name) => name.startsWith(word))
  return (text) => {
    // Full-width digits and blanks that do not break are read like others.
    const plain = text.normalize('NFKC').trim().toLowerCase()
    if (truths.has(plain)) return true
    if (!/\p{Nd}/u.test(plain) || !valueForm.test(plain)) return false
    return [...plain.matchAll(/\p{L}+/gu)].every(
      ({ 0: word, index }) => isMonth(word) || (index > 0 && unitWords.has(word))
    )
  }
}

/** In small letters. Beside a day, some languages have another form of the month. */
function listMonths(): readonly string[] {
  const names = languages.flatMap((language) => {
    const alone = new Intl.DateTimeFormat(language, { month: 'long', timeZone: 'UTC' })
    const besideDay = new Intl.DateTimeFormat(language, {
      month: 'long',
      day: 'numeric',
      timeZone: 'UTC',
    })
    return Array.from({ length: 12 }, (_, month) => Date.UTC(2026, month)).flatMap((atMs) => [
      monthIn(alone, atMs),
      monthIn(besideDay, atMs),
    ])
  })
  return [...new Set([...names, ...otherMonths])]
}

function monthIn(format: Intl.DateTimeFormat, atMs: number): string {
  const month = format.formatToParts(atMs).find(({ type }) => type === 'month')
  return (month?.value ?? '').toLowerCase()
}
