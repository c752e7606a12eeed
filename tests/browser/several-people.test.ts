// Several people at once behind one key, and what they are told.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { noBrowser, open, settled, signIn, until, visit } from './browser.ts'
import { Stage } from './stage.ts'

describe('several people behind one key', { skip: noBrowser, timeout: 900_000 }, () => {
  const stage = new Stage()

  it('six people who open the dashboard at once see the same totals, and none an error', async (t) => {
    const shown = await Promise.all(
      Array.from({ length: 6 }, async () => {
        const { page } = await visit({ browser: stage.browser, url: stage.showcase.url }, t)
        await signIn(page, stage.showcase.advertiserKey)
        await settled(page)
        assert.equal(await page.locator('.failure').count(), 0)
        return await page.locator('[data-total=IMPRESSIONS] .value').innerText()
      })
    )

    assert.equal(new Set(shown).size, 1, shown.join(', '))
  })

  it('who finds all places taken is told so, waits, and sees the figures once there is one', async (t) => {
    const { page } = await visit(
      { browser: stage.browser, url: stage.showcase.url, address: '#/nowhere' },
      t
    )
    await signIn(page, stage.showcase.advertiserKey)
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
    // Another part of the page may have been refused later, and waits a second longer.
    await until(page, `!document.body.innerText.includes('waiting for a free place')`)
    assert.equal(await page.locator('.failure').count(), 0)
  })
})
