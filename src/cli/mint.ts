// Mints links for any number of ads: reads them one by one, asks the service for a batch at a time, and prints each
// batch before the next one is read.
import { linkRequestSchema, linksMax, trackingLinksResponseSchema } from '../contract/admin.ts'
import { closed } from '../contract/closed.ts'
import { compileParser } from '../contract/validate.ts'
import { readAds, type AdForm, type ReadAd } from './ads.ts'
import { CliError, RefusedError, type CommandContext, type Run } from './command.ts'
import { openInput, withoutBody } from './input.ts'
import { createPrinter, type Link, type Printer } from './mint-output.ts'
import { printable } from './table.ts'
import { tell } from './progress.ts'
import { counted, formatCount } from './words.ts'

/** Of the body of a request: what the service takes, less the brackets around the ads. */
const batchBytesMax = 1_048_576 - 64

const parseAd = compileParser(closed(linkRequestSchema))

/** Ads with their JSON text. */
type Batch = readonly { readonly ad: ReadAd; readonly text: string }[]

type Answer =
  | { readonly links: readonly Link[]; readonly faults: null }
  /** What the service has against ads, by their index. */
  | { readonly links: null; readonly faults: ReadonlyMap<number, readonly string[]> }

export const linksMint: Run = async (context) => {
  const input = await openInput(context)
  const run = new Minting(context)
  try {
    const { form, ads } = await readAds(input)
    return await run.mint(form, ads)
  } catch (error) {
    run.tellWhatStands()
    throw error
  } finally {
    input.destroy()
  }
}

class Minting {
  readonly #context: CommandContext
  readonly #tally = { minted: 0, refused: 0 }
  #printer: Printer | null = null

  constructor(context: CommandContext) {
    this.#context = context
  }

  async mint(form: AdForm, ads: AsyncIterable<ReadAd>): Promise<number> {
    const { options, write, terminal } = this.#context
    const printer = createPrinter({ form, isJson: options['json'] === true, write })
    this.#printer = printer
    for await (const batch of inBatches(this.#accepted(ads))) {
      const isRead = await this.#mintBatch(batch)
      // Nobody reads on, as behind `head`, or the disk is full: nobody would get what is minted.
      if (!isRead) return 0
      this.#showProgress()
    }
    tell(terminal, null)
    const { minted, refused } = this.#tally
    if (minted + refused === 0) throw new CliError('There is no ad in the input.')
    await printer.end()
    if (form === 'lines' || refused > 0) this.tellWhatStands()
    return refused === 0 ? 0 : 1
  }

  /** What was minted is printed and counts, whatever happens next. */
  tellWhatStands(): void {
    const { minted, refused } = this.#tally
    const { terminal } = this.#context
    tell(terminal, null)
    if (this.#printer === null || minted + refused === 0) return
    terminal.stderr.write(`${counted(minted, 'ad')} minted, ${formatCount(refused)} refused.\n`)
  }

  /** What the contract refuses is not sent: one such ad would make the service refuse its whole batch. */
  async *#accepted(ads: AsyncIterable<ReadAd>): AsyncGenerator<ReadAd> {
    for await (const ad of ads) {
      const faults = 'fault' in ad ? [ad.fault] : faultsOf(ad.value)
      if (faults.length === 0) yield ad
      else this.#refuse(ad, faults)
    }
  }

  #refuse({ place }: ReadAd, faults: readonly string[]): void {
    this.#tally.refused += 1
    tell(this.#context.terminal, null)
    this.#context.terminal.stderr.write(`${place}: ${printable(faults.join('; '))}\n`)
  }

  /** Ads that the service refuses are told and left out, until it mints the others. False: nobody reads on. */
  async #mintBatch(batch: Batch): Promise<boolean> {
    let open = batch
    while (open.length > 0) {
      const { links, faults } = await this.#ask(open.map(({ text }) => text))
      if (links !== null) return await this.#print(open, links)
      for (const [index, messages] of faults) {
        const one = open[index]
        if (one !== undefined) this.#refuse(one.ad, messages)
      }
      open = open.filter((_, index) => !faults.has(index))
    }
    return true
  }

  async #ask(texts: readonly string[]): Promise<Answer> {
    const body = Buffer.from(`{"links":[${texts.join(',')}]}`)
    const call = { method: 'POST', path: '/tracking-links', body, waitsForLimit: true } as const
    try {
      const { links } = await this.#context.call(trackingLinksResponseSchema, call)
      if (links.length === texts.length) return { links, faults: null }
    } catch (error) {
      const faults = error instanceof RefusedError ? faultsByIndex(error.messages) : new Map()
      if (!texts.some((_, index) => faults.has(index))) throw error
      return { links: null, faults }
    }
    throw new CliError('Unexpected answer from the server: it has another number of links.')
  }

  async #print(minted: Batch, links: readonly Link[]): Promise<boolean> {
    this.#tally.minted += links.length
    const numbers = minted.map(({ ad }) => ad.number)
    return (await this.#printer?.print(numbers, links)) ?? false
  }

  #showProgress(): void {
    const { terminal } = this.#context
    // Where both go to one terminal, the links themselves are the progress.
    if (terminal.stdout.isTTY === true) return
    tell(terminal, `${counted(this.#tally.minted, 'ad')} minted`)
  }
}

function faultsOf(value: unknown): readonly string[] {
  const parsed = parseAd(value)
  return parsed.ok ? [] : parsed.messages.map(withoutBody)
}

async function* inBatches(ads: AsyncIterable<ReadAd>): AsyncGenerator<Batch> {
  let batch: Batch[number][] = []
  let batchBytes = 0
  for await (const ad of ads) {
    const text = JSON.stringify('value' in ad ? ad.value : null)
    const bytes = Buffer.byteLength(text) + 1
    const isFull = batch.length === linksMax || batchBytes + bytes > batchBytesMax
    if (isFull && batch.length > 0) {
      yield batch
      batch = []
      batchBytes = 0
    }
    batch.push({ ad, text })
    batchBytes += bytes
  }
  if (batch.length > 0) yield batch
}

/** `/links/3/gtin is required` is the fault `/gtin is required` of the fourth ad. */
function faultsByIndex(messages: readonly string[]): ReadonlyMap<number, readonly string[]> {
  const faults = new Map<number, readonly string[]>()
  for (const message of messages) {
    const [, index, fault = ''] = /^\/links\/(\d{1,6})(.*)$/su.exec(message) ?? []
    if (index === undefined) continue
    const known = faults.get(Number(index)) ?? []
    faults.set(Number(index), [...known, fault.trim()])
  }
  return faults
}
