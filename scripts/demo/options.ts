import { parseArgs } from 'node:util'

export interface DemoOptions {
  readonly once: boolean
  readonly shoppers: number
  readonly seed: number
  /** Days of history before today; 0: none. */
  readonly days: number
  /** Ads of the history on a usual day. */
  readonly adsPerDay: number
  /** null: the default port, or a free one when that is taken. 0: a free one. */
  readonly trackingPort: number | null
  readonly campaignPort: number | null
  readonly dataDir: string | null
}

export const usage = `usage: npm run demo -- [options]

  --once               stop the service after the check and remove its temporary folder
  --shoppers N         how many shoppers to play (default 3000, 50 to 50000)
  --seed N             another seed plays other shoppers (default 1)
  --days N             days of history before today (default 56, 0 for none, at most 365)
  --ads-per-day N      ads served on a usual day of the history (default 1200, 1 to 20000)
  --tracking-port N    port of the tracking operations (default 8080, or a free one; 0: a free one)
  --campaign-port N    port of the campaign operations (default 8081, or a free one; 0: a free one)
  --data-dir DIR       keep the service's data in this new or empty folder (default: a temporary one)
  --help               show this text`

export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** The options of the run, or null if only the help text is asked for. */
export function parseOptions(args: readonly string[]): DemoOptions | null {
  const values = parse(args)
  if (values.help === true) return null
  return {
    once: values.once ?? false,
    shoppers: wholeNumber('--shoppers', values.shoppers ?? '3000', { least: 50, greatest: 50_000 }),
    seed: wholeNumber('--seed', values.seed ?? '1', { least: 0, greatest: 4_294_967_295 }),
    days: wholeNumber('--days', values.days ?? '56', { least: 0, greatest: 365 }),
    adsPerDay: wholeNumber('--ads-per-day', values['ads-per-day'] ?? '1200', {
      least: 1,
      greatest: 20_000,
    }),
    trackingPort: port('--tracking-port', values['tracking-port']),
    campaignPort: port('--campaign-port', values['campaign-port']),
    dataDir: values['data-dir'] ?? null,
  }
}

function parse(args: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        once: { type: 'boolean' },
        shoppers: { type: 'string' },
        seed: { type: 'string' },
        days: { type: 'string' },
        'ads-per-day': { type: 'string' },
        'tracking-port': { type: 'string' },
        'campaign-port': { type: 'string' },
        'data-dir': { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    })
    return values
  } catch (cause) {
    throw new UsageError(cause instanceof Error ? cause.message : String(cause), { cause })
  }
}

interface Range {
  readonly least: number
  readonly greatest: number
}

function wholeNumber(name: string, text: string, { least, greatest }: Range): number {
  const value = /^\d{1,10}$/.test(text) ? Number(text) : -1
  if (value < least || value > greatest) {
    throw new UsageError(
      `${name} must be a whole number from ${least} to ${greatest}, got "${text}"`
    )
  }
  return value
}

function port(name: string, text: string | undefined): number | null {
  return text === undefined ? null : wholeNumber(name, text, { least: 0, greatest: 65_535 })
}
