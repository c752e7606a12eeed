// What client code sends when it does not know the shopper, or the group of a product. As identities, these would make
// one person of thousands of strangers, and as a group one of products that have nothing in common: purchases would be
// credited to the clicks of others, or on other products.
import { hash } from 'node:crypto'

const words: ReadonlySet<string> = new Set([
  '',
  '-1',
  'nil',
  'nan',
  'null',
  'none',
  'undef',
  'undefined',
  'true',
  'false',
  'empty',
  'anon',
  'anonymous',
  'guest',
  'unknown',
  'unauthenticated',
  'optout',
  'deleted',
  'redacted',
  'n/a',
  // How R and pandas write a missing value as text, and MySQL, Postgres and ClickHouse in their exports.
  'na',
  '<na>',
  String.raw`\n`,
  'not set',
  'not_set',
  'optional(nil)',
  'optional("")',
  '00000000-0000-0000-0000-000000000000',
  'ffffffffffffffffffffffffffffffff',
  'ffffffff-ffff-ffff-ffff-ffffffffffff',
  '%s',
  '%@',
  ...digestsOfNothing(),
])

/** A shop that hashes ids before it sends them sends this for all guests alike. In lower case, as the words are. */
function digestsOfNothing(): readonly string[] {
  const nothings = ['', 'null', 'undefined']
  const digests = (algorithm: string, form: 'hex' | 'base64' | 'base64url' = 'hex') =>
    nothings.map((nothing) => hash(algorithm, nothing, form).toLowerCase())
  const base64 = digests('sha256', 'base64')
  return [
    ...['md5', 'sha1', 'sha256', 'sha512'].flatMap((algorithm) => digests(algorithm)),
    ...base64,
    ...base64.map((digest) => digest.replace('=', '')),
    ...digests('sha256', 'base64url'),
  ]
}

/** The number of nobody, also as long as ids are, and an empty cell of a table. `00` may be a till or a member. */
const zerosOrDashes = /^(?:0|0{8,}|-+)$/

/** The name of a field in place of its value: `userId`, `$user_id`, `item_group_id`. */
const bareName =
  /^\$?(?:hashed[_ -]?)?(?:user|customer|client|shopper|visitor|member|account|login|(?:item[_ -]?)?group)[_ -]?(?:logged[_ -]?in[_ -]?)?id$/

/** Two parts of an id, neither of which was there: `undefinedundefined`, `null-null`. */
const repeated = /^(?:null[-_.:|]?)+$|^(?:undefined[-_.:|]?)+$/

/** How JavaScript writes an object where text was wanted. */
const object = /^\[object \w+\]$/

/** Only an id that begins with one of these is looked at further. Nearly none does. */
const mark = /^["'(<[{$#%_\\]/

/**
 * What Excel, LibreOffice and Google Sheets put where a formula failed, in the language of their user: `#N/A`, in French
 * and Italian `#N/D`, in German `#NV`; `#REF!`, `#DIV/0!`, in Spanish `#¡REF!` and `#¿NOMBRE?`; `Err:502`; and
 * `######` where a column was too narrow.
 */
const spreadsheetError =
  /^(?:#(?:#+|n\/[abd]|i\/t|н\/д|nv|yok|hiányzik|není_k_dispozici|[¡¿]?[\p{L}_]+(?:\/0)?[!?])|err:\d{3})$/iu

/** What LibreOffice puts where a formula failed. */
const numberedError = /^err:\d{3}$/

export function isSpreadsheetError(text: string): boolean {
  return spreadsheetError.test(text)
}

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
  const lower = text.toLowerCase()
  return isWord(lower) || repeated.test(lower) || numberedError.test(lower)
}

function isWord(text: string): boolean {
  return words.has(text) || zerosOrDashes.test(text) || bareName.test(text)
}

function isUnfilled(text: string): boolean {
  if (isWord(text) || object.test(text)) return true
  if (template.test(text)) return text.replace(/\D/g, '').length <= templateDigitsMax
  const bare = within(quoted, text)?.trim() ?? text
  return (
    isWord(bare) || isSpreadsheetError(bare) || nameOfId.test(within(macro, text)?.trim() ?? '')
  )
}

function within(marks: RegExp, text: string): string | undefined {
  return marks
    .exec(text)
    ?.slice(1)
    .find((part) => part !== undefined)
}
