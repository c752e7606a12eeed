// What client code sends when it does not know the shopper, or the group of a product. As identities, these would make
// one person of thousands of strangers, and as a group one of products that have nothing in common: purchases would be
// credited to the clicks of others, or on other products.

const words: ReadonlySet<string> = new Set([
  '',
  '0',
  '-1',
  'nil',
  'nan',
  'null',
  'none',
  'undefined',
  'anonymous',
  'guest',
  'unknown',
  'n/a',
  '#n/a',
  'not set',
  'not_set',
  'optional(nil)',
  'optional("")',
  '00000000000000000000000000000000',
  '00000000-0000-0000-0000-000000000000',
  '%s',
  '%@',
])

/** The longest of the words. */
const wordLengthMax = 36

/** Two parts of an id, neither of which was there: `undefinedundefined`, `null-null`. */
const repeated = /^(?:null[-_.:|]?)+$|^(?:undefined[-_.:|]?)+$/

/** How JavaScript writes an object where text was wanted. */
const object = /^\[object \w+\]$/

/** Only an id that begins with one of these is looked at further. Nearly none does. */
const mark = /^["'(<[{$#%_]/

/** The marks of one pair around a word: `(null)`, `"null"`, `{0}`. */
const quoted = /^(?:"(.*)"|'(.*)'|\((.*)\)|<(.*)>|\[(.*)\]|\{(.*)\})$/s

/** The marks of template languages. A genuine id within them would have more digits than the name of a field. */
const template = /^(?:\{\{.*\}\}|[$#]\{.*\}|%%.+%%|<[%?].*[%?]>)$/s
const templateDigitsMax = 3

/** Marks that are not a template's alone, so the text within must be the name of an id: `[USER_ID]`. */
const macro = /^(?:<(.*)>|\[(.*)\]|\{(.*)\}|%(.*)%|__(.*)__)$/s
const nameOfId =
  /^(?:(?:your|insert|hashed|logged|in|login|user|customer|client|shopper|visitor|member|account|device|item|product|group)[_. -]?)*(?:id|uid|uuid|guid)$/

/**
 * The text itself, or '' when it is empty, blank or a placeholder in any case. White space around it is ignored for that
 * question only: ids are exact text, and `' a'` and `'a'` are two.
 */
export function unlessPlaceholder(text: string): string {
  return isPlaceholder(text.trim()) ? '' : text
}

/** Whether a text without white space around it stands for nobody, in any case. */
function isPlaceholder(text: string): boolean {
  if (mark.test(text)) return isUnfilled(text.toLowerCase())
  if (text.length > wordLengthMax && !/^(?:null|undefined)/i.test(text)) return false
  const lower = text.toLowerCase()
  return words.has(lower) || repeated.test(lower)
}

function isUnfilled(text: string): boolean {
  if (words.has(text) || object.test(text)) return true
  if (template.test(text)) return text.replace(/\D/g, '').length <= templateDigitsMax
  return (
    words.has(within(quoted, text)?.trim() ?? text) ||
    nameOfId.test(within(macro, text)?.trim() ?? '')
  )
}

function within(marks: RegExp, text: string): string | undefined {
  return marks
    .exec(text)
    ?.slice(1)
    .find((part) => part !== undefined)
}
