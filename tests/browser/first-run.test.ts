// A new installation as its operator sees it, from nothing to the first event.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { Browser } from 'playwright-core'
import { aBundle } from '../helpers/bundle.ts'
import { prepareService, type Service } from '../helpers/service.ts'
import { launchBrowser, noBrowser, open, settled, signIn, sizes, visit } from './browser.ts'
import { serveCreditedAd } from './credited-ad.ts'
import { assertFits, findBarriers } from './read-page.ts'

describe('a new installation in a browser', { skip: noBrowser, timeout: 600_000 }, () => {
  const closers: (() => Promise<void>)[] = []
  let service: Service
  let browser: Browser
  let folder = ''

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'shelftrace-first-run-'))
    service = await prepareService({ after: (close) => closers.push(close) })
    await service.start()
    browser = await launchBrowser()
  })
  after(async () => {
    await browser?.close()
    for (const close of closers) await close()
    rmSync(folder, { recursive: true })
  })

  it('leads from an empty catalog to the first event, and says which steps are done', async (t) => {
    const { page, complaints } = await visit(
      { browser, url: service.campaignUrl, address: '#/operator/live' },
      t
    )
    await signIn(page, service.adminKey)
    await settled(page)
    const steps = page.getByRole('region', { name: 'First steps' })
    await steps.waitFor()
    assert.deepEqual(await findBarriers(page), [])
    for (const size of [sizes.phone, sizes.desktop]) {
      await page.setViewportSize(size)
      await assertFits(page, 'the first steps')
    }

    const path = join(folder, 'catalog.json')
    writeFileSync(path, '{"markets":')
    await steps.getByLabel('Catalog file (JSON)').setInputFiles(path)
    await steps.getByText('catalog.json is not JSON. Nothing was changed.').waitFor()
    writeFileSync(path, JSON.stringify({ ...aBundle(), campaigns: [{ id: 1, advertiserId: 1 }] }))
    await steps.getByLabel('Catalog file (JSON)').setInputFiles(path)
    await steps.getByText('/campaigns/0/name is required').waitFor()
    writeFileSync(path, JSON.stringify(aBundle()))
    await steps.getByLabel('Catalog file (JSON)').setInputFiles(path)
    await steps.getByText('The file is right').waitFor()
    const untouched = await service.admin('GET', '/admin/v1/catalog')
    assert.doesNotMatch(await untouched.text(), /"code"/u)
    await steps.getByRole('button', { name: 'Load it' }).click()
    await steps.getByText('Done').waitFor()

    await serveCreditedAd(service)

    await steps.waitFor({ state: 'detached' })
    await open(page, '#/operator/catalog/markets')
    await page.getByText('Load a bundle').waitFor()
    assert.deepEqual(await findBarriers(page), [])
    assert.deepEqual(complaints, [])
  })
})
