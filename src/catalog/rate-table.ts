import type { Clock } from '../lib/clock.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'
import type { DayRates } from './ecb-rates.ts'

/** The reference rates in the warehouse; of two loads the later one counts. */
export class RateTable {
  readonly #warehouse: Pick<Warehouse, 'insert'>
  readonly #clock: Clock

  constructor(options: { readonly warehouse: Pick<Warehouse, 'insert'>; readonly clock: Clock }) {
    this.#warehouse = options.warehouse
    this.#clock = options.clock
  }

  /** In one insert, and so all or nothing. */
  async store(days: readonly DayRates[]): Promise<void> {
    const version = this.#clock()
    const lines = days.flatMap(({ day, units }) =>
      units.map(([currency, rate]) =>
        JSON.stringify({ currency, day, units_per_euro: rate, version })
      )
    )
    if (lines.length > 0) await this.#warehouse.insert('rate', Buffer.from(`${lines.join('\n')}\n`))
  }
}
