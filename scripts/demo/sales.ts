// Which purchases count and what their returns leave of them, by the rules and without the service.
import { nanosOf } from './decimal.ts'

export interface PurchaseLine {
  readonly gtin: string
  readonly groupId?: string
  /** Decimal text, so that no float stands between the plan and the expectation. */
  readonly price: string
  readonly quantity: number
}

export interface Purchase {
  readonly publisherId: number
  readonly transactionId: string
  readonly userId: string
  readonly userLoggedInId?: string
  readonly lines: readonly PurchaseLine[]
}

export interface Delivery extends Purchase {
  readonly atMs: number
}

export interface Return {
  readonly publisherId: number
  readonly transactionId: string
  readonly returnId: string
  readonly lines: readonly { readonly gtin: string; readonly quantity: number }[]
  readonly atMs: number
}

/** A purchase that counts, with what returns leave of each line. */
export interface Sale extends Delivery {
  readonly units: readonly number[]
}

interface Delivered {
  readonly deliveries: readonly Delivery[]
  readonly returns: readonly Return[]
}

const lineValueNanosMax = 10n ** 12n * 10n ** 9n

export function salesOf({ deliveries, returns }: Delivered): readonly Sale[] {
  const counted = countedReturns(returns)
  const saleOf = (delivery: Delivery): Sale => {
    const units = remainingUnits(delivery, counted.get(transactionKey(delivery)) ?? [])
    return { ...delivery, units }
  }
  return winningDeliveries(deliveries).map(saleOf)
}

/** Products are equal when these are: GTIN forms of 8, 12, 13 and 14 digits name one number. */
export function productKey(gtin: string): string {
  const text = gtin.trim()
  return /^(?:\d{8}|\d{12,14})$/.test(text) ? text.padStart(14, '0') : text
}

export function isInRange({ price, quantity }: PurchaseLine): boolean {
  const priceNanos = nanosOf(price)
  return quantity > 0 && priceNanos >= 0n && priceNanos * BigInt(quantity) <= lineValueNanosMax
}

/** One purchase per publisher and transaction: the earliest delivery, whole; each nameless one is its own. */
function winningDeliveries(deliveries: readonly Delivery[]): readonly Delivery[] {
  const nameless: Delivery[] = []
  const earliest = new Map<string, Delivery>()
  for (const delivery of deliveries) {
    if (delivery.transactionId === '') {
      nameless.push(delivery)
      continue
    }
    const key = transactionKey(delivery)
    const known = earliest.get(key)
    if (known === undefined || delivery.atMs < known.atMs) earliest.set(key, delivery)
  }
  return [...nameless, ...earliest.values()]
}

/** The earliest delivery of each return of a transaction. */
function countedReturns(returns: readonly Return[]): ReadonlyMap<string, readonly Return[]> {
  const earliest = new Map<string, Return>()
  for (const one of returns) {
    const key = `${transactionKey(one)}\0${one.returnId}`
    const known = earliest.get(key)
    if (known === undefined || one.atMs < known.atMs) earliest.set(key, one)
  }
  const byTransaction = new Map<string, Return[]>()
  for (const one of earliest.values()) {
    const key = transactionKey(one)
    byTransaction.set(key, [...(byTransaction.get(key) ?? []), one])
  }
  return byTransaction
}

/** Units by line. Products go back in the order of the lines; what was not bought goes nowhere. */
function remainingUnits({ lines }: Delivery, returns: readonly Return[]): readonly number[] {
  const units = lines.map(({ quantity }) => quantity)
  for (const { gtin, quantity } of returns.flatMap((one) => one.lines)) {
    let open = quantity
    for (const [index, line] of lines.entries()) {
      if (!isInRange(line) || productKey(line.gtin) !== productKey(gtin)) continue
      const taken = Math.min(open, units[index] ?? 0)
      units[index] = (units[index] ?? 0) - taken
      open -= taken
    }
  }
  return units
}

function transactionKey({ publisherId, transactionId }: Delivery | Return): string {
  return `${publisherId} ${transactionId}`
}
