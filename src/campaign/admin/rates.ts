import type { Readable } from 'node:stream'
import { showChanges } from '../../access/audit-details.ts'
import type { AuditTrail } from '../../access/audit-trail.ts'
import { answerJson, refuse, type HandlerTable } from '../../http/handler.ts'
import { parseRatesHeader, parseRatesLine, type DayRates } from '../../catalog/ecb-rates.ts'
import type { RatesHeader } from '../../catalog/ecb-rates.ts'
import type { RatesResult } from '../../contract/admin.ts'
import { adminOperations } from '../../contract/admin-operations.ts'
import { addDays, dayOf } from '../../domain/day.ts'
import { handle } from '../handle.ts'
import type { AdminDeps } from './deps.ts'
import { foreignTextFault, readLines, withoutByteOrderMark, type Line } from './line-reader.ts'

/** The bank has published some 7,000 days since 1999; more than twice that is no file of its. */
const daysMax = 20_000
const faultsMax = 100

/** Takes a file of the central bank whole or not at all: a wrong rate bends every figure behind it. */
export function createPutRates(
  { rates, clock }: Pick<AdminDeps, 'rates' | 'clock'>,
  audit: AuditTrail
): HandlerTable {
  return handle(adminOperations.putRates, async ({ key, body }) => {
    const file = await readFile(body, addDays(dayOf(clock(), 'UTC'), 1))
    if (file.faults.length > 0) return refuse('REQUEST_INVALID', file.faults)

    const { addedCount, changes } = await rates.store(file.days)
    const result = describe(file.days)
    const subject = `${result.rates} rates of ${result.days} days`
    const { firstDay, lastDay } = result
    const details = { firstDay, lastDay, added: addedCount, ...showChanges(changes) }
    await audit.record({ key, action: 'rates.put', subject, details })
    return answerJson(200, result)
  })
}

interface RatesFile {
  readonly days: readonly DayRates[]
  readonly faults: readonly string[]
}

/** `lastDay`: the bank publishes the rates of a day on that day, which begins earlier in some zones than in UTC. */
async function readFile(stream: Readable, lastDay: string): Promise<RatesFile> {
  const file = new FileReader(lastDay)
  for await (const lines of readLines(stream)) {
    for (const line of lines) {
      const foreign = foreignTextFault(line)
      if (foreign !== null) return { days: [], faults: [`the file ${foreign}`] }
      file.push(withoutByteOrderMark(line))
    }
  }
  return file.end()
}

class FileReader {
  readonly #days = new Map<string, DayRates>()
  readonly #faults: string[] = []
  readonly #lastDay: string
  #header: RatesHeader | null = null
  #isHeaderBroken = false

  constructor(lastDay: string) {
    this.#lastDay = lastDay
  }

  push(line: Line): void {
    if (line.bytes === null) return this.#fault(line, 'is longer than 1 MiB')
    const text = line.bytes.toString('utf8')
    if (text.trim() === '' || this.#isHeaderBroken) return
    if (this.#header === null) {
      const header = parseRatesHeader(text)
      if (header.ok) this.#header = header.value
      else {
        this.#isHeaderBroken = true
        this.#fault(line, header.message)
      }
      return
    }
    const day = parseRatesLine(text, { header: this.#header, lastDay: this.#lastDay })
    if (!day.ok) return this.#fault(line, day.message)
    if (this.#days.has(day.value.day)) return this.#fault(line, 'repeats the day of a line before')
    if (this.#days.size >= daysMax) return this.#fault(line, `is one of more than ${daysMax} days`)
    this.#days.set(day.value.day, day.value)
  }

  end(): RatesFile {
    if (this.#header === null && !this.#isHeaderBroken) {
      this.#faults.push('the file must begin with a header line: Date and currencies')
    }
    return { days: [...this.#days.values()], faults: this.#faults }
  }

  #fault({ number }: Line, rule: string): void {
    if (this.#faults.length < faultsMax) this.#faults.push(`line ${number}: ${rule}`)
  }
}

function describe(days: readonly DayRates[]): RatesResult {
  const names = days.map(({ day }) => day).toSorted()
  const [firstDay, lastDay] = [names[0], names.at(-1)]
  return {
    days: days.length,
    rates: days.reduce((sum, { units }) => sum + units.length, 0),
    ...(firstDay !== undefined && lastDay !== undefined && { firstDay, lastDay }),
  }
}
