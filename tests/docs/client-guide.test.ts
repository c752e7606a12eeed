import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { clientErrorKinds } from '../../src/client/client-error.ts'
import { displayCatalog } from '../helpers/display-catalog.ts'
import { installPacked } from '../helpers/packed-package.ts'
import { eventually, prepareService } from '../helpers/service.ts'
import { browser } from '../helpers/shoppers.ts'

const run = promisify(execFile)
const guide = readFileSync('docs/guides/client.md', 'utf8')
const samples = [...guide.matchAll(/```js\n(.*?)```/gsu)].map((match) => match[1] ?? '')

const link = {
  publisherId: 10,
  siteId: 101,
  marketId: 1,
  advertiserId: 1,
  campaignId: 1001,
  adGroupId: 5001,
  gtin: '4006381333931',
  groupId: 'COFFEE',
  userId: 'shopper-1',
  costPerClick: '0.25',
}

function dayFromNow(offset: number): string {
  return new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10)
}

test('the samples of the guide, in order, report a purchase and read it back as rows and as a file', async (t) => {
  const folder = installPacked(t)
  const service = await prepareService(t)
  await service.start()
  const admin = async (method: string, path: string, body: unknown) => {
    const response = await service.admin(method, `/admin/v1${path}`, body)
    assert.ok(response.ok, `${path}: ${response.status}`)
    return (await response.json()) as { key: string; links: { clickUrl: string }[] }
  }
  await admin('PUT', '/catalog', displayCatalog)
  const scopes = ['report:read', 'asset:write', 'site:read']
  const { key } = await admin('POST', '/keys', { name: 'Acme', advertisers: [1], scopes })
  const { links } = await admin('POST', '/tracking-links', { links: [link] })
  await fetch(links[0]?.clickUrl ?? '', { method: 'POST', headers: { 'user-agent': browser } })
  const play = async (index: number) => {
    const text = (samples[index] ?? '')
      .replaceAll('http://127.0.0.1:8080', service.trackingUrl)
      .replaceAll('http://127.0.0.1:8081', service.campaignUrl)
      .replaceAll('2026-11-01', dayFromNow(-1))
      .replaceAll('2026-11-30', dayFromNow(1))
    writeFileSync(join(folder, `sample-${index}.mjs`), text)
    const options = { cwd: folder, env: { ACME_KEY: key }, timeout: 60_000 }
    return await run(process.execPath, [`sample-${index}.mjs`], options)
  }

  assert.equal(samples.length, 5)
  assert.equal((await play(0)).stderr, '')
  const { stdout, stderr } = await play(1)
  assert.equal(stdout, 'faulty\nreported\n')
  assert.equal(stderr, 'the request is not valid: /currency must have at most 3 characters\n')
  await eventually('the purchase is in the report', async () => {
    return (await play(2)).stdout === '4006381333931 1 39.98 EUR\n'
  })
  assert.equal((await play(3)).stdout, '1 rows\n')
  assert.match(
    readFileSync(join(folder, 'report.csv'), 'utf8'),
    /\r\n4006381333931,.*,39\.98,.*\r\n$/
  )
  assert.equal((await play(4)).stdout, 'Desktop HOME_PAGE\nbanner.png true\n')
})

test('the guide lists every code, and says of each whether it may be tried again', () => {
  const listed = [...guide.matchAll(/^\| `([A-Z_]+)` .*\| (yes|no) +\|$/gmu)].map(
    ([, code, answer]) => [code, answer === 'yes'] as const
  )

  assert.deepEqual(
    Object.fromEntries(listed),
    Object.fromEntries(
      Object.entries(clientErrorKinds).map(([code, { isRetryable }]) => [code, isRetryable])
    )
  )
})
