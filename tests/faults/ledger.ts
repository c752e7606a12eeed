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
  readonly deliveries: Record<Step, Delivery>
  /** The clock was set between its steps: the purchase may seem to be older than the click. */
  isAcrossClockStep: boolean
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

export interface Judgement {
  /** Acknowledged and not (yet) in the figures. */
  readonly missing: readonly string[]
  /** In the figures though never sent, or more than once. Waiting does not mend it. */
  readonly surplus: readonly string[]
}

/** The journeys as they stand now; later deliveries do not change it. */
export type LedgerPage = ReadonlyMap<string, Journey>

export class Ledger {
  readonly #journeys = new Map<string, Journey>()

  begin(gtin: string): Journey {
    const number = this.#journeys.size
    const journey: Journey = {
      gtin,
      valueCents: 100 + (number % 9_000),
      deliveries: { load: 'unsent', impression: 'unsent', click: 'unsent', purchase: 'unsent' },
      isAcrossClockStep: false,
    }
    this.#journeys.set(gtin, journey)
    return journey
  }

  /** Journeys that have not ended yet may be credited or not. */
  noteClockStep(): void {
    for (const journey of this.#journeys.values()) {
      const { click, purchase } = journey.deliveries
      if (click !== 'unsent' && purchase !== 'acknowledged') journey.isAcrossClockStep = true
    }
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

/**
 * Compares figures with what the ledger held before they were read (what must be there) and after
 * (what may be there): the load goes on meanwhile.
 */
export function judge(
  figures: ReadonlyMap<string, JourneyFigures>,
  ledger: { readonly before: LedgerPage; readonly after: LedgerPage }
): Judgement {
  const missing: string[] = []
  const surplus: string[] = []
  for (const [gtin, journey] of ledger.after) {
    const before = ledger.before.get(gtin)
    const found = figures.get(gtin)
    for (const step of steps) {
      const count = found?.counts[step] ?? 0
      const { most } = rangeOf(journey, step)
      const least = before === undefined ? 0 : rangeOf(before, step).least
      if (count < least) missing.push(`${gtin} ${step}: ${count} of ${least}`)
      if (count > most) surplus.push(`${gtin} ${step}: ${count} where ${most} may be`)
    }
    const expectedCents = (found?.counts.purchase ?? 0) * journey.valueCents
    if ((found?.valueCents ?? 0) !== expectedCents) {
      surplus.push(`${gtin} value: ${found?.valueCents} cents instead of ${expectedCents}`)
    }
  }
  for (const gtin of figures.keys()) {
    if (!ledger.after.has(gtin)) surplus.push(`${gtin}: nobody sent it`)
  }
  return { missing, surplus }
}

/** A purchase shows only where it is credited: its click must have counted. */
function rangeOf({ deliveries, isAcrossClockStep }: Journey, step: Step): Range {
  const own = rangeOfDelivery(deliveries[step])
  if (step !== 'purchase') return own
  const click = rangeOfDelivery(deliveries.click)
  const least = isAcrossClockStep ? 0 : Math.min(own.least, click.least)
  return { least, most: Math.min(own.most, click.most) }
}

function rangeOfDelivery(delivery: Delivery): Range {
  switch (delivery) {
    case 'unsent':
    case 'torn':
      return { least: 0, most: 0 }
    case 'sent':
      return { least: 0, most: 1 }
    case 'acknowledged':
      return { least: 1, most: 1 }
  }
}
