// The data folder of a former program, opened by this one. The program of commit dcc67f25e wrote it and was killed
// with a purchase in its spool. In it are a click and a purchase of 2026-11-20, on a sealed day; an impression, a
// click, a purchase and a return of 2026-11-29; and a click of that day whose purchase was not shipped yet.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { eventually, prepareService, type Service } from '../helpers/service.ts'

/** The former program was given these, instead of making its own. */
const secrets = {
  identitySecret: Buffer.alloc(32, 1).toString('base64'),
  keyRing: {
    active: '4397ce78',
    keys: [{ id: '4397ce78', key: Buffer.alloc(32, 2).toString('base64') }],
  },
}

async function startOnFormerFolder(t: TestContext): Promise<Service> {
  const dataDir = mkdtempSync(join(tmpdir(), 'shelftrace-upgrade-'))
  t.after(() => rmSync(dataDir, { recursive: true, force: true }))
  execFileSync('tar', ['-xzf', 'tests/e2e/fixtures/data-folder-dcc67f25e.tar.gz', '-C', dataDir])
  const mode = 0o600
  writeFileSync(join(dataDir, 'secrets.json'), JSON.stringify(secrets), { mode })
  writeFileSync(join(dataDir, 'admin-key'), `st_${'k'.repeat(43)}\n`, { mode })
  // The events stay where they are, however long ago they were.
  const env = { SHELFTRACE_RETENTION_DAYS: '36500', SHELFTRACE_SETTLE_MS: '0' }
  const service = await prepareService(t, { dataDir, env })
  await service.start()
  return service
}

interface Totals {
  readonly CLICKS: string
  readonly IMPRESSIONS: string
  readonly CONVERSIONS: string
  readonly UNITS_SOLD: string
  readonly CONVERSION_VALUE: string
  readonly AD_SPEND_REVENUE: string
}

async function readTotals(service: Service, day: string): Promise<Totals | undefined> {
  const path = '/v2/advertisers/1/reports/spa/product.json'
  const answer = await service.admin('POST', path, { startDate: day, endDate: day })
  const { totals } = (await answer.json()) as { readonly totals: readonly Totals[] }
  return totals[0]
}

function figuresOf(totals: Totals | undefined): readonly (string | undefined)[] {
  return [
    totals?.IMPRESSIONS,
    totals?.CLICKS,
    totals?.UNITS_SOLD,
    totals?.CONVERSION_VALUE,
    totals?.AD_SPEND_REVENUE,
  ]
}

test('a data folder of the former program is opened: its figures stay, and what waited in its spool counts', async (t) => {
  const service = await startOnFormerFolder(t)

  await eventually('the purchase that waited is in the report', async () => {
    return (await readTotals(service, '2026-11-29'))?.CONVERSIONS === '2'
  })
  const sealed = await readTotals(service, '2026-11-20')
  const open = await readTotals(service, '2026-11-29')

  assert.deepEqual(figuresOf(sealed), ['0', '1', '1', '9.99', '0.25'])
  assert.deepEqual(figuresOf(open), ['1', '2', '3', '59.97', '0.502000000'])
  await assertRecordsStay(service)
  assert.equal(await service.terminate(), 0, service.stderr)
})

async function assertRecordsStay(service: Service): Promise<void> {
  const keys = (await (await service.admin('GET', '/admin/v1/keys')).json()) as {
    readonly keys: readonly { readonly name: string }[]
  }
  assert.deepEqual(
    keys.keys.map(({ name }) => name).filter((name) => name === 'Acme'),
    ['Acme']
  )
  for (const order of ['order-0', 'order-1', 'order-2']) {
    const { status } = await service.admin('GET', `/admin/v1/conversions/10/${order}`)
    assert.equal(status, 200, order)
  }
  const aside = (await (await service.admin('GET', '/admin/v1/set-aside')).json()) as object
  assert.deepEqual(Object.values(aside).flat(), [], JSON.stringify(aside))
}
