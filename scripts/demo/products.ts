// Sixty invented products: twelve lines of five sizes, four lines for each advertiser. A line is a
// product group; its last size is never advertised, so that purchases of it can only be in-group.

export type MarketCode = 'DE' | 'GB' | 'JP'

export interface DemoProduct {
  readonly gtin: string
  readonly advertiserId: number
  readonly line: number
  readonly groupId: string
  readonly brand: string
  readonly titles: Readonly<Record<MarketCode, string>>
  /** Hundredths of a euro or a pound; 160 times as many hundredths of a yen. */
  readonly cents: number
  readonly isAdvertised: boolean
}

interface ProductLine {
  readonly advertiserId: number
  readonly brand: string
  readonly names: Readonly<Record<MarketCode, string>>
  readonly sizes: readonly string[]
  readonly cents: number
}

const bags = ['250 g', '500 g', '1 kg', '2 × 500 g', '3 kg sack']
const bottles = ['250 ml', '500 ml', '750 ml', '1.5 l', '5 l refill']
const packs = ['6 pieces', '12 pieces', '24 pieces', '48 pieces', 'family box, 96 pieces']

const productLines: readonly ProductLine[] = [
  {
    advertiserId: 1,
    brand: 'Velmora',
    names: { DE: 'Kaffeebohnen "Abendrot"', GB: 'Coffee beans "Dusk"', JP: 'コーヒー豆「夕暮れ」' },
    sizes: bags,
    cents: 549,
  },
  {
    advertiserId: 1,
    brand: 'Velmora',
    names: { DE: 'Espressokapseln', GB: 'Espresso pods', JP: 'エスプレッソカプセル' },
    sizes: packs,
    cents: 389,
  },
  {
    advertiserId: 1,
    brand: 'Quillan & Söhne',
    names: { DE: 'Trinkschokolade', GB: 'Drinking chocolate', JP: 'ホットチョコレート' },
    sizes: bags,
    cents: 429,
  },
  {
    advertiserId: 1,
    brand: 'Quillan & Söhne',
    names: { DE: 'Kalter Kaffee, Hafer', GB: 'Cold brew, oat', JP: '水出しコーヒー、オーツ' },
    sizes: bottles,
    cents: 279,
  },
  {
    advertiserId: 2,
    brand: 'Tarnwick',
    names: { DE: 'Waschmittel Feldminze', GB: 'Laundry liquid, field mint', JP: '洗濯洗剤 ミント' },
    sizes: bottles,
    cents: 699,
  },
  {
    advertiserId: 2,
    brand: 'Tarnwick',
    names: { DE: 'Spültabs', GB: 'Dishwasher tabs', JP: '食洗機用タブレット' },
    sizes: packs,
    cents: 459,
  },
  {
    advertiserId: 2,
    brand: 'Ostermoor',
    names: { DE: 'Handseife Sanddorn', GB: 'Hand soap, sea buckthorn', JP: 'ハンドソープ' },
    sizes: bottles,
    cents: 249,
  },
  {
    advertiserId: 2,
    brand: 'Ostermoor',
    names: { DE: 'Küchentücher', GB: 'Kitchen towels', JP: 'キッチンペーパー' },
    sizes: packs,
    cents: 349,
  },
  {
    advertiserId: 3,
    brand: 'Oshirako',
    names: { DE: 'Grüner Tee', GB: 'Green tea', JP: '緑茶' },
    sizes: bags,
    cents: 899,
  },
  {
    advertiserId: 3,
    brand: 'Oshirako',
    names: { DE: 'Ramen, scharf', GB: 'Ramen, hot', JP: '激辛ラーメン' },
    sizes: packs,
    cents: 519,
  },
  {
    advertiserId: 3,
    brand: 'Tanemiya',
    names: { DE: 'Sojasauce', GB: 'Soy sauce', JP: '醤油' },
    sizes: bottles,
    cents: 329,
  },
  {
    advertiserId: 3,
    brand: 'Tanemiya',
    names: { DE: 'Reiscracker', GB: 'Rice crackers', JP: 'せんべい' },
    sizes: packs,
    cents: 199,
  },
]

export const products: readonly DemoProduct[] = productLines.flatMap(productsOf)

function productsOf(line: ProductLine, lineIndex: number): readonly DemoProduct[] {
  return line.sizes.map((size, sizeIndex) => ({
    gtin: gtinOf(lineIndex * line.sizes.length + sizeIndex),
    advertiserId: line.advertiserId,
    line: lineIndex,
    groupId: `LINE-${String(lineIndex + 1).padStart(2, '0')}`,
    brand: line.brand,
    titles: {
      DE: `${line.names.DE}, ${size}`,
      GB: `${line.names.GB}, ${size}`,
      JP: `${line.names.JP}, ${size}`,
    },
    cents: line.cents * (sizeIndex + 1) - 10 * sizeIndex,
    isAdvertised: sizeIndex < line.sizes.length - 1,
  }))
}

/** Mostly 13 digits of the range for use inside a shop; some of 8 and 12, and some that are plain text. */
function gtinOf(index: number): string {
  if (index % 15 === 7) return `SKU-${String(index).padStart(3, '0')}-x`
  if (index % 10 === 3) return withCheckDigit(`02${String(index).padStart(5, '0')}`)
  if (index % 12 === 5) return withCheckDigit(`0490${String(index).padStart(7, '0')}`)
  return withCheckDigit(`2940${String(index * 37).padStart(8, '0')}`)
}

function withCheckDigit(digits: string): string {
  const sum = Array.from(digits)
    .toReversed()
    .reduce((total, digit, index) => total + Number(digit) * (index % 2 === 0 ? 3 : 1), 0)
  return `${digits}${(10 - (sum % 10)) % 10}`
}
