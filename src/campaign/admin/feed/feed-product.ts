import type { ProductEntry } from '../../../contract/catalog-bundle.ts'
import { parseFeedRow, type FeedColumn } from '../../../contract/products.ts'
import { codeFault, groupIn } from '../../../domain/product-code.ts'
import { asCode } from './feed-code.ts'
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
  const gtinFault = gtin === undefined ? null : codeFault(gtin)
  if (gtinFault !== null) return refused(`/gtin ${gtinFault}`, undefined)
  const group = groupIn(valueOf(fields, header, 'item_group_id') ?? '')
  const groupFault = group === '' ? null : codeFault(group)
  if (groupFault !== null) return refused(`/item_group_id ${groupFault}`, nameOf(gtin))
  const parsed = parseFeedRow({
    gtin,
    title: valueOf(fields, header, 'title'),
    brand: valueOf(fields, header, 'brand'),
    item_group_id: group === '' ? undefined : group,
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
  const text = position === null ? '' : (fields[position]?.trim() ?? '')
  const clean = column === 'gtin' || column === 'item_group_id' ? asCode(text) : unwrap(text)
  return clean === '' ? undefined : clean
}

/** `="Tea"`, which exporters write so that a spreadsheet leaves a text as it is. */
function unwrap(text: string): string {
  return /^="([^"]*)"$/u.exec(text)?.[1]?.trim() ?? text
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
