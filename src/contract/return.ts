// A return is no operation of the interface, so its bounds are its own: stricter where that keeps an
// entry from being kept that could never take anything back.
import { Type } from 'typebox'
import { orderLinesMax } from './conversion.ts'
import { int32, named, visibleCharacter, type Immutable } from './fields.ts'
import { compileParser, type Parsed } from './validate.ts'

/** White space only would name nothing: every delivery of such a transaction is a purchase of its own. */
function visibleText(description: string) {
  return Type.String({
    maxLength: 64,
    pattern: visibleCharacter,
    title: 'text with a visible character',
    description,
  })
}

const returnedProductSchema = named('ReturnedProduct', {
  gtin: Type.String({ maxLength: 60, description: 'The number of the product as it was bought.' }),
  quantity: int32({ minimum: 1, description: 'Number of items taken back.' }),
})

export const returnSchema = Type.Object(
  {
    publisher_id: int32('The integer publisher id of the conversion.'),
    transaction_id: visibleText('The transaction of the conversion.'),
    return_id: visibleText('Unique per return of the transaction; a repeat of it counts once.'),
    products: Type.Array(returnedProductSchema, {
      minItems: 1,
      maxItems: orderLinesMax,
      description: 'Entries of the same product add up.',
    }),
  },
  { title: 'Return', description: 'Products of a purchase that were sent back.' }
)

type ReturnBody = Type.Static<typeof returnSchema>

export type PurchaseReturn = Immutable<ReturnBody>
export type ReturnedProduct = PurchaseReturn['products'][number]

const parseBody = compileParser(returnSchema, { isEager: true })

/** Checks a delivered return and copies its known fields only, so that nothing else gets in with it. */
export function parseReturn(value: unknown): Parsed<PurchaseReturn> {
  const parsed = parseBody(value)
  if (!parsed.ok) return parsed
  const { publisher_id, transaction_id, return_id, products } = parsed.value
  return {
    ok: true,
    value: {
      publisher_id,
      transaction_id,
      return_id,
      products: products.map(({ gtin, quantity }) => ({ gtin, quantity })),
    },
  }
}
