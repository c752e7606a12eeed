// Which faults there were and when, so that a failure can be told by what went on at the time.

const shownMax = 8

interface Entry {
  readonly number: number
  readonly beganAtMs: number
  overAtMs: number
  what: string
}

export class Timeline {
  readonly #entries: Entry[] = []

  /** Returns what tells it over, with the account of it. */
  begin(number: number, what: string): (told: string) => void {
    const entry: Entry = { number, what, beganAtMs: Date.now(), overAtMs: Infinity }
    this.#entries.push(entry)
    return (told) => {
      entry.overAtMs = Date.now()
      entry.what = told
    }
  }

  /** What went on at an instant, or was the last to go on before it. */
  at(atMs: number): string {
    const during = this.#entries.filter((one) => one.beganAtMs <= atMs && atMs <= one.overAtMs)
    if (during.length > 0) return `during ${during.map(nameOf).join(' and ')}`
    const before = this.#entries.findLast(({ overAtMs }) => overAtMs < atMs)
    return before === undefined ? 'before the first fault' : `after ${nameOf(before)}`
  }

  /** The newest faults, oldest first, a line each. */
  print(): string {
    return this.#entries
      .slice(-shownMax)
      .map((entry) => {
        const until = entry.overAtMs === Infinity ? 'not over' : printTime(entry.overAtMs)
        return `  ${nameOf(entry)}: from ${printTime(entry.beganAtMs)} to ${until}`
      })
      .join('\n')
  }
}

function nameOf({ number, what }: Entry): string {
  return `fault ${number} ${what}`
}

export function printTime(atMs: number): string {
  return new Date(atMs).toISOString()
}
