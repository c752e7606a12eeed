// The types of the small packages, as a strict program of another project sees them.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { emptyFolder, packForTest, runNpm, skip, startRegistry } from './npm.ts'

const clientProgram = `
import {
  ClientError,
  createCampaignClient,
  createPublisherClient,
  type ClientErrorCode,
  type Conversion,
  type ReportRow,
} from '@shelftrace/client'

const conversion: Conversion = {
  user_id: 'shopper-1', transaction_id: 'order-1', site_id: 101, publisher_id: 10, currency: 'EUR',
  products: [{ gtin: '4006381333931', price: 19.99, quantity: 2 }],
}
const publisher = createPublisherClient({ url: 'https://t.example' })
const { attemptCount }: { attemptCount: number } = await publisher.sendConversion(conversion)
// @ts-expect-error a price is a number
await publisher.sendConversion({ ...conversion, products: [{ gtin: '1', price: '1', quantity: 1 }] })
// @ts-expect-error a purchase has products
await publisher.sendConversion({ ...conversion, products: undefined })

const campaign = createCampaignClient({ url: 'https://c.example', key: 'st_x' })
// @ts-expect-error a campaign client needs a key
createCampaignClient({ url: 'https://c.example' })
// What the environment has under a name is undefined if it has nothing, which is said when the client is created.
createCampaignClient({ url: 'https://c.example', key: process.env['KEY'] })
createPublisherClient({ url: 'https://t.example', key: process.env['DELIVERY_KEY'] })
const query = { startDate: '2026-03-01', endDate: '2026-03-31', orderBy: 'CLICKS' } as const
for await (const row of campaign.report(1, query)) {
  const typed: ReportRow = row
  const clicks: string = typed.CLICKS
  const date: string | undefined = typed.DATE
  // @ts-expect-error there is no such column
  console.log(clicks, date, typed.SALES)
}
// @ts-expect-error reports are not ordered by what they do not have
campaign.report(1, { ...query, orderBy: 'SALES' })
// @ts-expect-error all pages are read
campaign.report(1, { startDate: '2026-03-01', endDate: '2026-03-31', page: 1 })
const [first] = await campaign.siteLocations(1, { publisherId: 10, marketId: 1, adGroupType: 'SPA' })
const type: 'DESKTOP' | 'MOBILE_WEB' | 'MOBILE_APP' | 'TABLET_APP' | 'EMAIL' | undefined = first?.site?.type
const { totals } = await campaign.reportJson(1, query)
const value: string | null | undefined = totals[0]?.['CONVERSION_VALUE']

try {
  await campaign.reportCsv(1, query)
} catch (error) {
  if (!(error instanceof ClientError)) throw error
  const code: ClientErrorCode = error.code
  // @ts-expect-error the list of codes is closed
  if (error.code === 'SOMETHING_ELSE') console.log(code, type, value, attemptCount)
}
`

const minterProgram = `
import {
  addKey, checkAd, createKeyRing, createMinter, createOpener, parseCostMicros, TrackingDataError,
  type KeyRing, type MintedToken, type ServedAd, type TrackingData,
} from '@shelftrace/tracking-data'

const ring: KeyRing = addKey(createKeyRing(), { publishers: [10] })
const ad: ServedAd = {
  publisherId: 10, siteId: 101, marketId: 1, advertiserId: 1, campaignId: 1001, adGroupId: 5001,
  gtin: '4006381333931', groupId: 'COFFEE', userId: 'shopper-1', currency: 'EUR',
  costPerClickMicros: parseCostMicros('0.25'), costPerMilleMicros: 0n,
  landingUrl: 'https://shop.example/coffee',
}
const minted: MintedToken = createMinter(ring).mint(ad)
// @ts-expect-error an amount is a bigint of millionths
createMinter(ring).mint({ ...ad, costPerClickMicros: 0.25 })
// @ts-expect-error a misspelt field
createMinter(ring).mint({ ...ad, landingURL: 'https://shop.example/' })
try {
  checkAd(ad)
  const opened = createOpener(ring).open(minted.trackingData)
  if (opened.ok) {
    const data: TrackingData = opened.data
    const gtin: string = data.gtin
    // @ts-expect-error there is no such field
    console.log(gtin, data.price)
  }
} catch (error) {
  if (!(error instanceof TrackingDataError)) throw error
}
`

const commonProgram = `
import { createPublisherClient } from '@shelftrace/client'
import { createMinter, parseKeyRing } from '@shelftrace/tracking-data'

export const publisher = createPublisherClient({ url: 'https://track.example' })
export const minter = createMinter(parseKeyRing(''))
`

const strict = {
  target: 'es2023',
  strict: true,
  noUncheckedIndexedAccess: true,
  noPropertyAccessFromIndexSignature: true,
  exactOptionalPropertyTypes: true,
  // Types of the packages themselves are checked as well, not only what the programs use.
  skipLibCheck: false,
  noEmit: true,
  types: ['node'],
}

test(
  'the types hold in strict programs, resolved as by Node or by a bundler, in modules and CommonJS, and refuse what the service refuses',
  { skip },
  async (t) => {
    const registry = await startRegistry(t)
    const folder = emptyFolder(t)
    const paths = [...packForTest(t).values()].map(({ path }) => path).filter(isLibrary)
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }))
    const options = { cwd: folder, registry }
    const installed = await runNpm(process.execPath, ['install', ...paths], options)
    assert.equal(installed.code, 0, installed.stderr)
    mkdirSync(join(folder, 'node_modules', '@types'))
    const nodeTypes = join('node_modules', '@types', 'node')
    symlinkSync(realpathSync(nodeTypes), join(folder, nodeTypes))
    writeFileSync(join(folder, 'client.ts'), clientProgram)
    writeFileSync(join(folder, 'minter.ts'), minterProgram)

    writeFileSync(join(folder, 'common.cts'), commonProgram)

    const modules = ['client.ts', 'minter.ts']
    for (const { files, ...module } of [
      { module: 'nodenext', files: modules.concat('common.cts') },
      { module: 'esnext', moduleResolution: 'bundler', files: modules },
      { module: 'commonjs', moduleResolution: 'bundler', files: ['common.cts'] },
    ]) {
      const config = { compilerOptions: { ...strict, ...module }, files }
      writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
      const compiler = resolve('node_modules/typescript/bin/tsc')
      const compiled = spawnSync(process.execPath, [compiler, '-p', '.'], {
        cwd: folder,
        encoding: 'utf8',
        timeout: 120_000,
      })
      assert.equal(compiled.stdout, '', module.module)
      assert.equal(compiled.status, 0, compiled.stderr)
    }
  }
)

function isLibrary(path: string): boolean {
  return /shelftrace-(?:client|tracking-data)-/u.test(path)
}
