import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { ServedAdReading } from '../../src/contract/served-ad.ts'
import type { StatusResponse } from '../../src/contract/admin.ts'
import { aBundle, aSite } from '../helpers/bundle.ts'
import { placement } from '../helpers/placement.ts'
import { eventually, prepareService, type Service } from '../helpers/service.ts'
import { browser } from '../helpers/shoppers.ts'

const library = 'okhttp/4.12.0'

async function mintLink(service: Service): Promise<string> {
  const link = { ...placement, gtin: '4006381333931', userId: 'u1', costPerClick: '0.25' }
  const minted = await service.admin('POST', '/admin/v1/tracking-links', { links: [link] })
  const { links } = (await minted.json()) as { links: { trackingData: string }[] }
  return links[0]?.trackingData ?? assert.fail()
}

async function loadSite(service: Service, type: 'DESKTOP' | 'MOBILE_APP'): Promise<void> {
  const publishers = [{ id: 10, name: 'Example Shop', sites: [aSite({ type })] }]
  const loaded = await service.admin('PUT', '/admin/v1/catalog', { ...aBundle(), publishers })
  assert.equal(loaded.status, 200)
}

async function eventsOf(service: Service, link: string): Promise<ServedAdReading['events']> {
  const read = await service.admin('POST', '/admin/v1/tracking-links/read', { link })
  assert.equal(read.status, 200)
  return ((await read.json()) as ServedAdReading).events
}

test('an event is judged by the site, behind a proxy by the list that is in force, and again at once when the catalog changes', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'shelftrace-networks-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const networks = join(folder, 'networks')
  writeFileSync(networks, '203.0.113.0/24\n')
  const service = await prepareService(t, {
    env: {
      SHELFTRACE_TRACKERS: '2',
      SHELFTRACE_TRUST_PROXY: 'true',
      SHELFTRACE_DATACENTER_NETWORKS: networks,
      SHELFTRACE_SETTLE_MS: '100',
    },
  })
  await service.start()
  const status = async () =>
    (await (await service.admin('GET', '/admin/v1/status')).json()) as StatusResponse
  await loadSite(service, 'DESKTOP')
  const link = await mintLink(service)
  const click = async (userAgent: string, from: string) => {
    const headers = { 'user-agent': userAgent, 'x-forwarded-for': from }
    const answer = await fetch(`${service.trackingUrl}/click/${link}`, { method: 'POST', headers })
    assert.equal(answer.status, 200)
  }
  // Connections go to each of the two trackers.
  for (let round = 0; round < 8; round += 1) {
    await click(library, '198.51.100.1')
    await click(browser, '203.0.113.7')
  }
  await eventually('both verdicts are told', async () => {
    return (await eventsOf(service, link)).length === 2
  })

  const { version } = (await status()).dataCentres ?? assert.fail()
  const verdicts = (await eventsOf(service, link)).map((one) => [one.verdict, one.dataCentreList])
  assert.deepEqual(
    new Map(verdicts as [string, string][]),
    new Map([
      ['bot', undefined],
      ['data-centre', version],
    ])
  )

  await loadSite(service, 'MOBILE_APP')
  await eventually('the event counts that was no other than a bot’s before', async () => {
    await click(library, '198.51.100.1')
    return (await eventsOf(service, link)).some(({ verdict }) => verdict === 'counted')
  })

  writeFileSync(networks, '203.0.113.0/24\n203.0.113.0/99\n')
  await eventually('the status names the broken line', async () => {
    return (await status()).dataCentres?.faults.length === 1
  })
  const { dataCentres } = await status()
  assert.deepEqual(dataCentres, {
    version,
    ranges: 1,
    faults: ['SHELFTRACE_DATACENTER_NETWORKS: line 2 must be a CIDR range or an IP address'],
  })
})
