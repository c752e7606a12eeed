// A browser that translates pages, as Chrome does, in front of figures that change.
import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import { noBrowser, open } from './browser.ts'
import { Stage } from './stage.ts'

const performance = '#/advertisers/1/performance'

/** What Chrome does to a page that it translates: each text that may be translated moves into two elements of its own. */
async function translateAsChrome(page: Page): Promise<number> {
  return await page.evaluate(`(() => {
    const texts = []
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    while (walker.nextNode()) texts.push(walker.currentNode)
    const open = texts.filter((text) => text.data.trim() !== '' && text.parentElement.translate)
    for (const text of open) {
      const [outer, inner] = [document.createElement('font'), document.createElement('font')]
      inner.append(text.data)
      outer.append(inner)
      text.replaceWith(outer)
    }
    return open.length
  })()`)
}

async function assertNotTranslated(page: Page) {
  assert.equal(await page.evaluate('document.documentElement.translate'), false)
  const meta = page.locator('head meta[name=google]')
  assert.equal(await meta.getAttribute('content'), 'notranslate')
}

describe(
  'the dashboard before a browser that translates',
  { skip: noBrowser, timeout: 600_000 },
  () => {
    const stage = new Stage({ shoppers: 20, days: 8, adsPerDay: 300 })

    async function start(t: TestContext) {
      return await stage.enter(t, { key: stage.showcase.advertiserKey, address: performance })
    }

    // Preact goes on writing into the texts that it made, which a translation has taken out of the page.
    it('no browser translates the dashboard, whose figures would then stand still below a new question', async (t) => {
      const served = await (await fetch(`${stage.showcase.url}/`)).text()
      assert.match(served, /<html [^>]*translate="no"/u)
      assert.match(served, /<meta name="google" content="notranslate"/u)
      const { page } = await start(t)
      await assertNotTranslated(page)
      await page.getByLabel('Language').selectOption('de')
      await page.getByRole('heading', { name: 'Leistung' }).waitFor()
      await assertNotTranslated(page)

      const head = page.locator('main .head')
      const spend = page.locator('[data-total=AD_SPEND_REVENUE] .value')
      await open(page, `${performance}?period=yesterday`)
      const before = { head: await head.innerText(), spend: await spend.innerText() }
      assert.equal(await translateAsChrome(page), 0)
      await open(page, `${performance}?period=last-7`)
      assert.notEqual(await head.innerText(), before.head)
      assert.notEqual(await spend.innerText(), before.spend)
    })

    it('a guide may be translated, since its texts never change, and the page after it is the right one', async (t) => {
      const { page, complaints } = await start(t)
      await open(page, '#/help/advertiser')
      await page.getByRole('heading', { name: 'Guide for advertisers' }).waitFor()

      assert.ok((await translateAsChrome(page)) > 100)

      await page.evaluate(`location.hash = '#/help/publisher'`)
      await page.getByRole('heading', { name: 'Guide for publishers' }).waitFor()
      assert.equal(await page.getByRole('heading', { name: 'Guide for advertisers' }).count(), 0)
      await open(page, `${performance}?period=last-7`)
      await page.locator('[data-total=AD_SPEND_REVENUE]').waitFor()
      assert.deepEqual(complaints, [])
    })
  }
)
