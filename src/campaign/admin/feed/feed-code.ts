// Codes of products and groups, as spreadsheets and data tools write them.

/** Twice the longest code. What is longer is refused as it is, since the patterns below take time with its square. */
const unitsMax = 240

/** A code without what was put around its characters or between them. */
export function asCode(text: string): string {
  if (text.length > unitsMax) return text
  const bare = withoutMarks(text)
    .replace(/^=(?=\d+$)/u, '')
    // A column of numbers prints `4006381333931.0`.
    .replace(/^(\d+)[.,]0*$/u, '$1')
  return withoutThousands(bare)
}

/** `="4006381333931"` and an apostrophe make a text of a number. Marks that cannot be seen are copied from web pages. */
function withoutMarks(text: string): string {
  const bare = text
    .replace(/\p{Cf}/gu, '')
    .trim()
    .replace(/^="+([^"]*)"+$/u, '$1')
    .replace(/^['\u2018\u2019]+(.*?)['\u2018\u2019]*$/u, '$1')
    .trim()
  return bare === text ? text : withoutMarks(bare)
}

/** `4,006,381,333,931`. Shorter codes may have been made by the shop with marks between their digits. */
function withoutThousands(code: string): string {
  if (!/^\d{1,3}([., \u00a0\u202f'\u2019])\d{3}(?:\1\d{3}){2,3}$/u.test(code)) return code
  const digits = code.replace(/\D/gu, '')
  return digits.length < 12 ? code : digits
}
