import { Type } from 'typebox'
import { parseCurrency } from '../domain/currency.ts'
import { double, int32, named, optional, type Immutable } from './fields.ts'
import { compileParser, type Parsed } from './validate.ts'

/**
 * For a conversion and for a return. The interface names no limit, and this many lines with all their fields fill the
 * 1 MiB of a body. The limit keeps 3 kB of gzip from holding 29,000 of the shortest lines, each of which is work in
 * every step.
 */
export const orderLinesMax = 10_000

export const productSchema = named('Product', {
  gtin: Type.String({ maxLength: 60 }),
  group_id: optional(
    Type.String({
      maxLength: 60,
      description:
        'Product group id used for in-group attribution: a purchase of one product attributed ' +
        'through a click on another product of the same group.',
    })
  ),
  brand: optional(Type.String({ maxLength: 128 })),
  price: double('Unit price of the product.'),
  quantity: int32('Number of items sold.'),
})

export const conversionSchema = Type.Object(
  {
    user_id: Type.String({
      maxLength: 128,
      description:
        'Stable across publisher sites and client devices. Equal to the user id given in the ad request.',
    }),
    user_logged_in_id: optional(
      Type.String({
        minLength: 1,
        maxLength: 128,
        description: 'Persistent id of a logged-in user.',
      })
    ),
    transaction_id: Type.String({ maxLength: 64, description: 'Unique per transaction.' }),
    site_id: int32(
      'Publisher manager site id of the site where the purchase happened ' +
        '(for example the desktop or the mobile site).'
    ),
    publisher_id: int32('The integer publisher id, not the publisher UUID.'),
    currency: Type.String({
      maxLength: 3,
      description: 'ISO 4217 currency code of an active currency, in any case.',
    }),
    products: Type.Array(productSchema, { minItems: 1, maxItems: orderLinesMax }),
  },
  { title: 'Conversion', description: 'A reported purchase.' }
)

type ProductBody = Type.Static<typeof productSchema>
type ConversionBody = Type.Static<typeof conversionSchema>

export type Product = Immutable<ProductBody>
export type Conversion = Immutable<ConversionBody>

const parseBody = compileParser(conversionSchema, { isEager: true })
const inactiveCurrency = '/currency must be an active ISO 4217 currency code'

/**
 * Checks a delivered conversion against the interface and copies its known fields only, the currency in
 * upper case: what was validated is what is stored, and nothing else gets in with it.
 */
export function parseConversion(value: unknown): Parsed<Conversion> {
  return parseAt(value)
}

/** The same for one that was received earlier: its currency may have been withdrawn since. */
export function parseEarlierConversion(value: unknown, receivedAtMs: number): Parsed<Conversion> {
  return parseAt(value, receivedAtMs)
}

function parseAt(value: unknown, receivedAtMs?: number): Parsed<Conversion> {
  const parsed = parseBody(value)
  if (!parsed.ok) return parsed

  const currency = parseCurrency(parsed.value.currency, receivedAtMs)
  if (currency === null) return { ok: false, messages: [inactiveCurrency] }

  return { ok: true, value: copyConversion(parsed.value, currency) }
}

function copyConversion(body: Conversion, currency: string): Conversion {
  const conversion: ConversionBody = {
    user_id: body.user_id,
    transaction_id: body.transaction_id,
    site_id: body.site_id,
    publisher_id: body.publisher_id,
    currency,
    products: body.products.map(copyProduct),
  }
  if (body.user_logged_in_id !== undefined) conversion.user_logged_in_id = body.user_logged_in_id
  return conversion
}

function copyProduct(body: Product): ProductBody {
  const product: ProductBody = { gtin: body.gtin, price: body.price, quantity: body.quantity }
  if (body.group_id !== undefined) product.group_id = body.group_id
  if (body.brand !== undefined) product.brand = body.brand
  return product
}
