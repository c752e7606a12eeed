// What was sent and what was acknowledged, per shopper and step. Every shopper looks at a product of
// their own, so every row of the report is one journey and can be judged alone: nothing that is
// missing in one place can hide what is doubled in another.

export const steps = ['load', 'impression', 'click', 'purchase'] as const
export type Step = (typeof steps)[number]

/** `torn`: only a part of the request left, so it must count for nothing. */
export type Delivery = 'unsent' | 'torn' | 'sent' | 'acknowledged'

export interface Journey {
  readonly gtin: string
  readonly valueCents: number
  /** Served ads of the product, each of which is loaded, seen and clicked. */
  readonly adCount: number
  readonly deliveries: Record<Step, Delivery>
  /** When a step was last sent or acknowledged, and by which node: for the account of a failure. */
  readonly traces: Partial<Record<Step, Trace>>
  /** The clock was set between its steps: the purchase may seem to be older than the click. */
  isAcrossClockStep: boolean
  /** The warehouse refuses some of it for now: that is set aside, until its cause is mended. */
  isRefused: boolean
}

export interface Trace {
  readonly atMs: number
  readonly by: string
}

/** The figures of one journey; a report without its row has zeros. */
export interface JourneyFigures {
  readonly counts: Record<Step, number>
  readonly valueCents: number
}

interface Range {
  readonly least: number
  readonly most: number
}

/** One step of one journey that is not as it was sent, or its value. */
interface Deviation {
  readonly what: string
  readonly trace: Trace | undefined
}

export interface Judgement {
  /** Acknowledged and not (yet) in the figures. */
  readonly missing: readonly Deviation[]
  /** In the figures though never sent, or more than once. Waiting does not mend it. */
  readonly surplus: readonly Deviation[]
}

/** The journeys as they stand now; later deliveries do not change it. */
export type LedgerPage = ReadonlyMap<string, Journey>

export class Ledger {
  readonly #journeys = new Map<string, Journey>()
  #clockChangeCount = 0

  begin(
    gtin: string,
    options: Partial<Pick<Journey, 'valueCents' | 'adCount' | 'isRefused'>> = {}
  ) {
    const number = this.#journeys.size
    const journey: Journey = {
      gtin,
      valueCents: 100 + (number % 9_000),
      adCount: 1,
      isRefused: false,
      ...options,
      deliveries: { load: 'unsent', impression: 'unsent', click: 'unsent', purchase: 'unsent' },
      traces: {},
      isAcrossClockStep: false,
    }
    this.#journeys.set(gtin, journey)
    return journey
  }

  note(journey: Journey, step: Step, { delivery, by }: { delivery: Delivery; by: string }): void {
    journey.deliveries[step] = delivery
    journey.traces[step] = { atMs: Date.now(), by }
    if (this.#clockChangeCount > 0 && isUnderWay(journey)) journey.isAcrossClockStep = true
  }

  /** From here to the end of the change not all processes see the same clock: who is under way may be credited or not. */
  beginClockChange(): void {
    this.#clockChangeCount += 1
    for (const journey of this.#journeys.values()) {
      if (isUnderWay(journey) && journey.deliveries.purchase !== 'acknowledged') {
        journey.isAcrossClockStep = true
      }
    }
  }

  endClockChange(): void {
    this.#clockChangeCount -= 1
  }

  copy(): LedgerPage {
    return new Map(
      [...this.#journeys].map(([gtin, journey]) => [
        gtin,
        { ...journey, deliveries: { ...journey.deliveries } },
      ])
    )
  }

  count(step: Step, delivery: Delivery): number {
    let count = 0
    for (const { deliveries } of this.#journeys.values()) {
      if (deliveries[step] === delivery) count += 1
    }
    return count
  }
}

function isUnderWay({ deliveries }: Journey): boolean {
  return deliveries.click !== 'unsent'
}

/**
 * Compares figures with what the ledger held before they were read (what must be there) and after
 * (what may be there): the load goes on meanwhile.
 */
export function judge(
  figures: ReadonlyMap<string, JourneyFigures>,
  ledger: { readonly before: LedgerPage; readonly after: LedgerPage }
): Judgement {
  const missing: Deviation[] = []
  const surplus: Deviation[] = []
  for (const [gtin, journey] of ledger.after) {
    const before = ledger.before.get(gtin)
    const found = figures.get(gtin)
    for (const step of steps) {
      const count = found?.counts[step] ?? 0
      const { most } = rangeOf(journey, step)
      const least = before === undefined ? 0 : rangeOf(before, step).least
      const trace = journey.traces[step]
      if (count < least) missing.push({ what: `${gtin} ${step}: ${count} of ${least}`, trace })
      if (count > most) {
        surplus.push({ what: `${gtin} ${step}: ${count} where ${most} may be`, trace })
      }
    }
    const expectedCents = (found?.counts.purchase ?? 0) * journey.valueCents
    if ((found?.valueCents ?? 0) !== expectedCents) {
      const what = `${gtin} value: ${found?.valueCents} cents instead of ${expectedCents}`
      surplus.push({ what, trace: journey.traces.purchase })
    }
  }
  for (const gtin of figures.keys()) {
    if (!ledger.after.has(gtin)) surplus.push({ what: `${gtin}: nobody sent it`, trace: undefined })
  }
  return { missing, surplus }
}

/** A purchase shows only where it is credited: its click must have counted. */
function rangeOf(journey: Journey, step: Step): Range {
  const { deliveries, isAcrossClockStep } = journey
  const own = rangeOfDelivery(deliveries[step], step === 'purchase' ? 1 : journey.adCount)
  if (journey.isRefused) return { least: 0, most: own.most }
  if (step !== 'purchase') return own
  const click = rangeOfDelivery(deliveries.click, 1)
  const least = isAcrossClockStep ? 0 : Math.min(own.least, click.least)
  return { least, most: Math.min(own.most, click.most) }
}

function rangeOfDelivery(delivery: Delivery, count: number): Range {
  switch (delivery) {
    case 'unsent':
    case 'torn':
      return { least: 0, most: 0 }
    case 'sent':
      return { least: 0, most: count }
    case 'acknowledged':
      return { least: count, most: count }
  }
}
