// What cannot be the code of a product or of a group, although it stands in its place.

import { isSpreadsheetError, unlessPlaceholder } from './placeholder.ts'

/** `4.00638E+12`: a spreadsheet has dropped the last digits, and many codes became one. */
const rounded = /^\d[.,]\d+e\+?\d+$|^\d+e\+\d+$/i

/** What is wrong with a code that is not blank; null if nothing is. */
export function codeFault(code: string): string | null {
  if (rounded.test(code)) return 'must be written out: a spreadsheet has rounded it'
  if (isSpreadsheetError(code)) return 'must be a code: a spreadsheet has written an error'
  // Some shops number their products, from 0 on.
  const isPlaceholder = unlessPlaceholder(code) === '' && !/^\d+$/u.test(code)
  return isPlaceholder ? 'must be a code: it is a placeholder' : null
}

/** The group that a text names, '' if it names none. An error of a spreadsheet stays, so that `codeFault` refuses it. */
export function groupIn(text: string): string {
  return isSpreadsheetError(text.trim()) ? text : unlessPlaceholder(text)
}
