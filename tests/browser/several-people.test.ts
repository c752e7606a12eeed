// Several people at once behind one key, and what they are told.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Browser } from 'playwright-core'
import { openShowcase, type Showcase } from '../../scripts/demo/showcase.ts'
import { launchBrowser, noBrowser, open, settled, signIn, visit } from './browser.ts'

describe('several people behind one key', { skip: noBrowser, timeout: 900_000 }, () => {
  let showcase: Showcase
  let browser: Browser

  before(async () => {
    showcase = await openShowcase({ shoppers: 20, days: 5, adsPerDay: 200 })
    browser = await launchBrowser()
  })
  after(async () => {
    await browser?.close()
    await showcase?.close()
  })

  it('six people who open the dashboard at once see the same totals, and none an error', async (t) => {
    const shown = await Promise.all(
      Array.from({ length: 6 }, async () => {
        const { page } = await visit({ browser, url: showcase.url }, t)
        await signIn(page, showcase.advertiserKey)
        await settled(page)
        assert.equal(await page.locator('.failure').count(), 0)
        return await page.locator('[data-total=IMPRESSIONS] .value').innerText()
      })
    )

    assert.equal(new Set(shown).size, 1, shown.join(', '))
  })

  it('who finds all places taken is told so, waits, and sees the figures once there is one', async (t) => {
    const { page } = await visit({ browser, url: showcase.url, address: '#/nowhere' }, t)
    await signIn(page, showcase.advertiserKey)
    let refusals = 0
    await page.route(/series\.json$/u, async (route) => {
      refusals += 1
      if (refusals > 7) return await route.continue()
      const headers = { 'retry-after': '1' }
      return await route.fulfill({ status: 429, headers, json: { messages: ['too many'] } })
    })
    const opening = open(page, '#/advertisers/1/performance')
    await page.getByText('waiting for a free place').waitFor()
    await opening

    await page.locator('[data-total=IMPRESSIONS]').waitFor()
    assert.equal(await page.locator('.failure').count(), 0)
    assert.equal(await page.getByText('waiting for a free place').count(), 0)
  })
})
