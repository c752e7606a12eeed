/// <reference lib="es2024.string" />

/** Length in Unicode code points, the unit of every length limit; a lone surrogate counts as one. */
export function countCodePoints(text: string): number {
  let count = text.length
  for (let index = 1; index < text.length; index += 1) {
    if (isLowSurrogate(text.charCodeAt(index)) && isHighSurrogate(text.charCodeAt(index - 1))) {
      count -= 1
      // The pair is complete: its second half opens no other.
      index += 1
    }
  }
  return count
}

/**
 * Whether the string can be stored and returned unchanged. It must have no lone surrogate, which UTF-8
 * cannot encode and which makes the warehouse refuse a whole batch, and no U+0000, where many readers
 * stop.
 */
export function isText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

/** = + - @ and their full-width forms. */
const signs = String.raw`[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]`
/** May stand before a sign: blanks, which some readers trim, and the apostrophes of text that looks guarded already. */
const passedOver = "[' ]*"
const runAtStart = new RegExp(String.raw`^(?=${passedOver}(?:${signs}|[\t\r\n]))`)
const runInside = new RegExp(String.raw`([;\t\r\n]"*)(?=${passedOver}${signs})`, 'g')
const guardedAtStart = new RegExp(String.raw`^'(?=${passedOver}(?:${signs}|[\t\r\n]))`)
const guardedInside = new RegExp(String.raw`([;\t\r\n]"*)'(?=${passedOver}${signs})`, 'g')

/**
 * An apostrophe before whatever a spreadsheet would run as a formula when it opens the file: before text
 * that begins with one of the signs, a tab or a line end, and before a sign that follows a `;`, a tab or a
 * line end, since spreadsheets of many languages split a file there and end a cell in the middle of a text.
 * Quoting does not help: the quotes are gone by the time the cell is evaluated, those around a text that is
 * split count for nothing, and two right behind the split are an empty text before the formula. Nor do blanks before
 * a sign, which many readers trim.
 *
 * Text that looks guarded already gets one more apostrophe, so that guarding can always be undone.
 */
export function escapeForSpreadsheet(text: string): string {
  return text.replace(runInside, "$1'").replace(runAtStart, "'")
}

/** The text that `escapeForSpreadsheet` was given. */
export function unescapeFromSpreadsheet(text: string): string {
  return text.replace(guardedAtStart, '').replace(guardedInside, '$1')
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff
}
