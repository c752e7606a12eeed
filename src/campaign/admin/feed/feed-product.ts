import type { ProductEntry } from '../../../contract/catalog-bundle.ts'
import { parseFeedRow, type FeedColumn } from '../../../contract/products.ts'
import type { FeedHeader } from './feed-header.ts'
import type { FeedRowText } from './feed-rows.ts'

export type RowResult =
  | { readonly ok: true; readonly product: ProductEntry }
  | {
      readonly ok: false
      readonly messages: readonly string[]
      /** The product that the row names nevertheless; null: none; undefined: it cannot be read. */
      readonly gtin: string | null | undefined
    }

/** `4.00638E+12`: a spreadsheet has dropped the last digits, and many products became one. */
const roundedForm = /^[0-9][.,][0-9]+e\+?[0-9]+$/i

/** 60 code points. */
const gtinUnitsMax = 120

/** One row as a product of the market, held to the rules of products in a bundle. */
export function toProduct(row: FeedRowText, header: FeedHeader, marketId: number): RowResult {
  const { fields, fault } = row
  const { columnCount } = header
  if (fields === null) return refused(fault ?? '', undefined)
  if (fields.length !== columnCount) {
    const rule = `the row must have ${columnCount} columns, as the header has`
    return refused(`${rule}; it has ${fields.length}`, undefined)
  }
  const gtin = valueOf(fields, header, 'gtin')
  // Invalid UTF-8 was decoded as Latin-1, so characters beyond ASCII are unreliable.
  if (fault !== null) return refused(fault, isAscii(gtin) ? nameOf(gtin) : undefined)
  if (gtin !== undefined && roundedForm.test(gtin)) {
    return refused('/gtin must be written out: a spreadsheet has rounded it', undefined)
  }
  const parsed = parseFeedRow({
    gtin,
    title: valueOf(fields, header, 'title'),
    brand: valueOf(fields, header, 'brand'),
    item_group_id: valueOf(fields, header, 'item_group_id'),
  })
  if (!parsed.ok) return { ok: false, messages: parsed.messages, gtin: nameOf(gtin) }
  const { title, brand, item_group_id: groupId } = parsed.value
  return {
    ok: true,
    product: {
      marketId,
      gtin: parsed.value.gtin,
      title,
      ...(brand !== undefined && { brand }),
      ...(groupId !== undefined && { groupId }),
    },
  }
}

/** Blanks around a value do not belong to it; a blank value counts as absent. */
function valueOf(
  fields: readonly string[],
  { positions }: FeedHeader,
  column: FeedColumn
): string | undefined {
  const position = positions[column]
  const value = position === null ? '' : unwrap(fields[position]?.trim() ?? '')
  const clean = column === 'gtin' || column === 'item_group_id' ? asCode(value) : value
  return clean === '' ? undefined : clean
}

/** `="4006381333931"`, which exporters write so that a spreadsheet leaves the digits as they are. */
function unwrap(text: string): string {
  return /^="([^"]*)"$/u.exec(text)?.[1]?.trim() ?? text
}

/**
 * A code without what spreadsheets and data tools put around it: an apostrophe before it makes it a text, and a
 * column of numbers prints `4006381333931.0`.
 */
function asCode(text: string): string {
  const bare = text.replace(/^['\u2018\u2019]+/u, '').replace(/^=(?=\d+$)/u, '')
  return /^(\d+)[.,]0+$/u.exec(bare)?.[1] ?? bare
}

/** A text longer than any GTIN is in no catalog. */
function nameOf(gtin: string | undefined): string | null {
  return gtin === undefined || gtin.length > gtinUnitsMax ? null : gtin
}

function isAscii(text: string | undefined): boolean {
  return text === undefined || /^[ -~]*$/.test(text)
}

function refused(message: string, gtin: string | null | undefined): RowResult {
  return { ok: false, messages: [message], gtin }
}
