// The page on which operators look up a tracking link, in a real browser before a whole service.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Browser } from 'playwright-core'
import { prepareService, type Service } from '../helpers/service.ts'
import { launchBrowser, noBrowser, settled, signIn, sizes, until, visit } from './browser.ts'
import { serveCreditedAd } from './credited-ad.ts'
import { assertFits, assertNoTrace, findBarriers } from './read-page.ts'
import { aBundle } from '../helpers/bundle.ts'

describe('looking up a link in a browser', { skip: noBrowser, timeout: 600_000 }, () => {
  const closers: (() => Promise<void>)[] = []
  let service: Service
  let browser: Browser

  before(async () => {
    service = await prepareService({ after: (close) => closers.push(close) })
    await service.start()
    const response = await service.admin('PUT', '/admin/v1/catalog', aBundle())
    assert.equal(response.status, 200)
    browser = await launchBrowser()
  })
  after(async () => {
    await browser?.close()
    for (const close of closers) await close()
  })

  it('a link that is pasted shows what came of its ad and leads to its purchases, and leaves no trace in the browser', async (t) => {
    const served = await serveCreditedAd(service)
    const { page, complaints } = await visit(
      { browser, url: service.campaignUrl, address: '#/operator/link' },
      t
    )
    await signIn(page, service.adminKey)
    await settled(page)
    const steps = await page.evaluate('history.length')
    const input = page.getByLabel('Link or tracking data')
    await page.getByText('Paste a tracking link').waitFor()

    await input.fill('https://track.example/click/no-token')
    await page.getByRole('button', { name: 'Look up' }).click()
    await page.getByText('/link must hold tracking data').waitFor()
    assert.deepEqual(await findBarriers(page), [])
    await input.fill(`https://track.example/click/${served.trackingData}?x=1`)
    await page.getByRole('button', { name: 'Look up' }).click()
    await page.getByRole('link', { name: served.transactionId }).waitFor()

    await page.getByText(served.servedAdId).waitFor()
    await page.getByRole('cell', { name: 'Counted' }).first().waitFor()
    assert.deepEqual(await findBarriers(page), [])
    assert.equal(await page.evaluate('history.length'), steps)
    await assertNoTrace(page, served.trackingData)
    for (const size of [sizes.phone, sizes.desktop]) {
      await page.setViewportSize(size)
      await assertFits(page, 'the page of a link')
    }
    await page.getByRole('link', { name: served.transactionId }).click()
    await until(page, `location.hash.includes('/lookup/')`)
    await settled(page)
    await page.getByText('Counted', { exact: true }).first().waitFor()
    assert.deepEqual(complaints, [])
  })

  it('the live view tells how long purchases wait, which days are not sealed and what was refused, and names markets by their codes', async (t) => {
    const { page, complaints } = await visit(
      { browser, url: service.campaignUrl, address: '#/operator/live' },
      t
    )
    await signIn(page, service.adminKey)
    await settled(page)

    for (const label of [
      'Purchases wait for attribution',
      'Days not sealed',
      'Events refused since the start',
      'Age of the newest backup',
    ]) {
      await page.getByText(label, { exact: true }).waitFor()
    }
    const markets = page.getByRole('table', { name: 'How far each market is sealed' })
    const codes = await markets.locator('tbody tr > :first-child').allInnerTexts()
    assert.deepEqual(
      codes.toSorted(),
      aBundle()
        .markets.map(({ code }) => code)
        .toSorted()
    )
    const refused = page.locator('.tile', { hasText: 'Events refused' }).locator('data')
    assert.equal(await refused.getAttribute('value'), '0')
    assert.deepEqual(await findBarriers(page), [])
    assert.deepEqual(complaints, [])
  })
})
