// Every block of every guide, in the order in which the parties would come to it: the operator sets
// up an installation, the ad server mints, the publisher reports, the advertiser reads; both again with the client.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { eventually } from '../helpers/service.ts'
import type { Service } from '../helpers/service.ts'
import { jsonFaults, textFault } from './answer.ts'
import { prepareInstallation, replaceExamples } from './installation.ts'
import type { Installation, Replacements } from './installation.ts'
import { readBlocks } from './markdown.ts'
import type { Block } from './markdown.ts'
import {
  checkBrowserScript,
  checkJson,
  checkShellSyntax,
  checkUnit,
  fenceFault,
  fileNameOf,
  has,
  missingProgram,
} from './samples.ts'
import { Shell } from './shell.ts'
import { tryNode } from './started-node.ts'
import { placement } from '../helpers/placement.ts'

const guidePath = (name: string) => join('docs/guides', `${name}.md`)
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  scripts: Record<string, string>
}

/** What its reader was given before the first block, by the operator or in an ad response. */
interface Given {
  readonly scopes: readonly string[]
  readonly advertisers?: readonly number[] | 'all'
  readonly publishers?: readonly number[]
}

const guides: Readonly<Record<string, Given>> = {
  // One that was handed out long ago and is to be revoked.
  operator: { scopes: ['report:read'], advertisers: 'all' },
  'ad-server': { scopes: ['link:mint'], advertisers: 'all' },
  publisher: { scopes: ['intake:read', 'delivery:write'], publishers: [10] },
  advertiser: { scopes: ['report:read', 'asset:write', 'site:read'], advertisers: [1] },
  client: { scopes: ['report:read', 'asset:write', 'site:read'], advertisers: [1] },
}

test('every guide has its place in the story, and the fence of every block says what to do with it', () => {
  const names = readdirSync('docs/guides').map((file) => file.replace('.md', ''))
  const faults = names.flatMap((name) => readBlocks(guidePath(name)).map(fenceFault))

  assert.deepEqual(names.toSorted(), Object.keys(guides).toSorted())
  assert.deepEqual(
    faults.filter((fault) => fault !== null),
    []
  )
})

test('whoever follows the guides, block by block, gets the answers that they show', async (t) => {
  const installation = await prepareInstallation(t)
  const { service } = installation
  await service.start()

  for (const [name, given] of Object.entries(guides)) {
    await step(t, { name: `the ${name}'s guide` }, async (guide) => {
      const { id: keyId, key } = await createKey(service, given)
      const token = name === 'publisher' ? { token: await serveClickedAd(service) } : {}
      const real = { trackingUrl: service.trackingUrl, campaignUrl: service.campaignUrl }
      const walk = new Walk(installation, { ...real, key, keyId, ...token })
      guide.after(() => walk.close())

      await walk.follow(guide, readBlocks(guidePath(name)))

      if (name === 'publisher') await assertPurchasesArrived(service, walk.transactions)
    })
  }
})

/** A subtest without which there is no going on: what follows would only fail for its sake. */
async function step(
  t: TestContext,
  { name, skip = false }: { readonly name: string; readonly skip?: string | false },
  run: (inner: TestContext) => Promise<void>
): Promise<void> {
  let isDone = false
  await t.test(name, { skip }, async (inner) => {
    await run(inner)
    isDone = true
  })
  if (!isDone && skip === false) throw new Error(`it ends at ${name}`)
}

class Walk {
  readonly transactions = new Set<string>()
  readonly #installation: Installation
  readonly #real: Replacements
  readonly #shell: Shell
  readonly #nodes: Promise<void>[] = []
  #isRunning = true
  #printed = ''

  constructor(installation: Installation, real: Replacements) {
    this.#installation = installation
    this.#real = real
    const { folder, service } = installation
    this.#shell = new Shell({ folder, env: { SHELFTRACE_URL: service.campaignUrl } })
  }

  async close(): Promise<void> {
    await this.#shell.close()
    await Promise.allSettled(this.#nodes)
    await this.#letServiceRun(true)
  }

  async follow(t: TestContext, blocks: readonly Block[]): Promise<void> {
    const saved = new Map<string, string>()
    for (const [index, block] of blocks.entries()) {
      const next = blocks[index + 1]
      const name = fileNameOf(block)
      const text = replaceExamples(block.text, this.#real)
      if (name !== null) {
        saved.set(name, block.text)
        writeFileSync(join(this.#installation.folder, name), text)
      }
      const missing = block.language === 'sh' ? missingProgram(block) : null
      const skip = missing === null ? false : `${missing} is not installed`
      await step(t, { name: `line ${block.line}: ${block.language}`, skip }, async () => {
        await this.#take({ ...block, text }, next)
        if (block.language === 'sh') this.#note(block, saved)
      })
    }
    await step(t, { name: 'the nodes that were started take traffic' }, async () => {
      await Promise.all(this.#nodes)
    })
    const texts = blocks.filter((block) => block.language !== 'json').map(({ text }) => text)
    for (const name of saved.keys()) {
      assert.ok(
        texts.some((text) => text.includes(name)),
        `${name} is saved and never used`
      )
    }
  }

  async #take(block: Block, next: Block | undefined): Promise<void> {
    const shown = has(next, 'answer') ? next : undefined
    if (block.language === 'sh' && fileNameOf(block) === null) await this.#run(block, shown)
    if (block.language === 'json') checkJson(block)
    if (block.language === 'ini') checkUnit(block)
    if (has(block, 'browser')) checkBrowserScript(block, this.#installation.folder)
  }

  async #run(block: Block, shown: Block | undefined): Promise<void> {
    if (has(block, 'parsed')) return checkShellSyntax(block, scripts)
    if (has(block, 'serve')) {
      // It takes seconds, in which the next blocks can run.
      const { folder: installationFolder } = this.#installation
      const folder = join(installationFolder, `node-${block.line}`)
      const node = tryNode({ text: block.text, installationFolder, folder })
      // Its failure is told at the end of the guide, and must not end the process before.
      node.catch(() => undefined)
      this.#nodes.push(node)
      return
    }
    await this.#letServiceRun(!has(block, 'stopped'))
    const isRepeated = has(block, 'repeat')
    // What is asked for may not be known to the service yet.
    this.#printed = await this.#shell.run(block.text, { mayFail: isRepeated })
    if (shown === undefined) return
    if (isRepeated) await this.#repeat(block, shown)
    assert.deepEqual(this.#answerFaults(shown), [])
  }

  /** Until the answer is the one shown, or patience is over, for the caller to say what differs. */
  async #repeat(block: Block, shown: Block): Promise<void> {
    const hasCome = () => this.#printed !== '' && this.#answerFaults(shown).length === 0
    if (hasCome()) return
    await eventually('', async () => {
      this.#printed = await this.#shell.run(block.text, { mayFail: true })
      return hasCome()
    }).catch(() => undefined)
  }

  /** A start takes seconds, so between two blocks that want it stopped it stays so. */
  async #letServiceRun(isRunning: boolean): Promise<void> {
    if (this.#isRunning === isRunning) return
    const { service } = this.#installation
    await (isRunning ? service.start() : service.terminate())
    this.#isRunning = isRunning
  }

  #answerFaults(shown: Block): readonly string[] {
    const text = replaceExamples(shown.text, this.#real)
    if (shown.language === 'json') return jsonFaults(JSON.parse(text), JSON.parse(this.#printed))
    const fault = textFault(text, this.#printed)
    return fault === null ? [] : [fault]
  }

  /** Which purchases the block sent, by itself or by the files that it names. */
  #note(block: Block, saved: ReadonlyMap<string, string>): void {
    const used = [...saved].filter(([name]) => block.text.includes(name)).map(([, text]) => text)
    const nested = [...saved].filter(([name]) => used.some((text) => text.includes(name)))
    const text = [block.text, ...used, ...nested.map(([, inner]) => inner)].join('\n')
    for (const [id] of text.matchAll(/\b2026-\d{6}\b/gu)) this.transactions.add(id)
  }
}

async function createKey(
  service: Service,
  given: Given
): Promise<{ readonly id: string; readonly key: string }> {
  const answer = await service.admin('POST', '/admin/v1/keys', { name: 'Old agency', ...given })
  return (await answer.json()) as { id: string; key: string }
}

/** The token of an ad that the shopper of the publisher's guide was served and has clicked. */
async function serveClickedAd(service: Service): Promise<string> {
  const ad = {
    ...placement,
    gtin: '4006381333931',
    groupId: 'COFFEE',
    userId: 'c0a8-77',
    userLoggedInId: 'member-4711',
    landingUrl: 'https://shop.example/coffee',
  }
  const answer = await service.admin('POST', '/admin/v1/tracking-links', { links: [ad] })
  const { links } = (await answer.json()) as { links: { trackingData: string; clickUrl: string }[] }
  const { trackingData = '', clickUrl = '' } = links[0] ?? {}
  // A program's click would not count.
  const headers = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101' }
  assert.equal((await fetch(clickUrl, { method: 'POST', headers })).status, 200)
  return trackingData
}

/** Each purchase once, with two pieces of the product of the ad, less the one that was returned. */
async function assertPurchasesArrived(service: Service, sent: ReadonlySet<string>): Promise<void> {
  const dayMs = 86_400_000
  const days = [Date.now() - dayMs, Date.now() + dayMs].map((atMs) =>
    new Date(atMs).toISOString().slice(0, 10)
  )
  const body = { startDate: days[0], endDate: days[1] }
  const units = String(2 * sent.size - 1)
  let rows: readonly { CONVERSIONS: string; UNITS_SOLD: string }[] = []
  await eventually(`${sent.size} purchases are credited`, async () => {
    const path = '/v2/advertisers/1/reports/spa/product.json'
    rows = ((await (await service.admin('POST', path, body)).json()) as { rows: typeof rows }).rows
    // The return that the guide sends is taken back a moment after its purchase is credited.
    return rows[0]?.CONVERSIONS === String(sent.size) && rows[0].UNITS_SOLD === units
  }).catch((error: unknown) => assert.fail(`${String(error)}: ${JSON.stringify(rows)}`))
  assert.ok(sent.size > 0)
}
