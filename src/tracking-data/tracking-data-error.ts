/** One broken rule: which field (as a JSON pointer) and what it must be. Never the offending value. */
export interface Fault {
  readonly field: string
  readonly rule: string
}

/** One line for people: `/gtin must be text of 1 to 60 characters`. */
export function formatFault(fault: Fault): string {
  return `${fault.field} ${fault.rule}`
}

/**
 * The caller handed in an ad, a key ring or an amount that breaks a rule. The message names every
 * field and rule and no value, so that it can be logged: the values may be secrets or personal.
 */
export class TrackingDataError extends Error {
  override readonly name = 'TrackingDataError'
  readonly faults: readonly Fault[]
  /** The first broken rule; `faults` has them all. */
  readonly field: string
  readonly rule: string

  constructor(subject: string, faults: readonly [Fault, ...Fault[]]) {
    super(`invalid ${subject}: ${faults.map(formatFault).join('; ')}`)
    this.faults = faults
    this.field = faults[0].field
    this.rule = faults[0].rule
  }
}
