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
 * Whether the string can be stored and given back unchanged: no lone surrogate, which UTF-8 cannot say
 * and one of which makes the warehouse refuse a whole batch, and no U+0000, which many readers end at.
 */
export function isText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

/**
 * A leading apostrophe for text that a spreadsheet would run as a formula when it opens the file: text
 * that begins with = + - @, their full-width forms, a tab, a carriage return or a line feed. Quoting
 * alone does not help, as the quotes are gone by the time the cell is evaluated.
 */
export function escapeForSpreadsheet(text: string): string {
  return /^[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/.test(text) ? `'${text}` : text
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff
}
