// What a user of the package gets: the built files behind its exports, and their types.
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { clientVersion } from '../../src/client/caller.ts'
import { installPacked } from '../helpers/packed-package.ts'
import { answer, playScript } from '../helpers/scripted-server.ts'

const run = promisify(execFile)
const folder = installPacked({ after })

const program = `
import { ClientError, createCampaignClient, createPublisherClient } from 'shelftrace/client'
const client = createPublisherClient({ url: process.argv[2] })
const sent = await client.sendConversion({
  user_id: 'shopper-1', transaction_id: 'order-1', site_id: 101, publisher_id: 10, currency: 'EUR',
  products: [{ gtin: '4006381333931', price: 19.99, quantity: 2 }],
})
const campaign = createCampaignClient({ url: process.argv[2], key: 'st_x' })
const failed = await campaign.siteLocations(1, { publisherId: 10, marketId: 0.5 }).catch((error) => error)
console.log(JSON.stringify([sent, failed instanceof ClientError, failed.code]))
`

test('a plain program imports the packed client, with an empty environment, and ends by itself', async (t) => {
  const server = await playScript(t, answer(200))
  writeFileSync(join(folder, 'program.mjs'), program)

  const { stdout, stderr } = await run(process.execPath, ['program.mjs', server.url], {
    cwd: folder,
    env: {},
    timeout: 30_000,
  })

  assert.equal(stderr, '')
  assert.deepEqual(JSON.parse(stdout), [{ attemptCount: 1 }, true, 'REQUEST_INVALID'])
  assert.equal(server.received.length, 1)
})

const typedProgram = `
import {
  ClientError,
  createCampaignClient,
  createPublisherClient,
  type ClientErrorCode,
  type Conversion,
  type ReportRow,
} from 'shelftrace/client'

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

test('the types of the packed client hold in a strict program, and refuse what the interface refuses', () => {
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }))
  writeFileSync(join(folder, 'program.ts'), typedProgram)
  const compilerOptions = {
    target: 'es2023',
    module: 'nodenext',
    strict: true,
    noUncheckedIndexedAccess: true,
    noPropertyAccessFromIndexSignature: true,
    exactOptionalPropertyTypes: true,
    // Types of the package itself are checked as well, not only what the program uses.
    skipLibCheck: false,
    noEmit: true,
    types: ['node'],
  }
  const config = { compilerOptions, files: ['program.ts'] }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))

  const compiled = spawnSync(
    process.execPath,
    [resolve('node_modules/typescript/bin/tsc'), '-p', '.'],
    {
      cwd: folder,
      encoding: 'utf8',
      timeout: 120_000,
    }
  )

  assert.equal(compiled.stdout, '')
  assert.equal(compiled.status, 0, compiled.stderr)
})

test('the client says the version of its package', () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }

  assert.equal(clientVersion, version)
})
