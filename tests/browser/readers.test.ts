// Readers whose browser, clock or question is not what most have.
import assert from 'node:assert/strict'
import { after, before, describe, it, type TestContext } from 'node:test'
import type { Browser } from 'playwright-core'
import { openShowcase, type Showcase } from '../../scripts/demo/showcase.ts'
import type { AdvertiserAccount } from '../../src/contract/me.ts'
import { dayOf } from '../../src/domain/day.ts'
import { launchBrowser, noBrowser, open, settled, signIn, visit } from './browser.ts'
import { rangeOf } from './read-page.ts'

describe('the dashboard for all sorts of readers', { skip: noBrowser, timeout: 900_000 }, () => {
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

  async function start(t: TestContext, key: string) {
    const visitor = await visit({ browser, url: showcase.url }, t)
    await signIn(visitor.page, key)
    await settled(visitor.page)
    return visitor
  }

  it('a browser that blocks site data shows the figures all the same, for as long as the page lives', async (t) => {
    const context = await browser.newContext({ locale: 'en-GB' })
    t.after(async () => await context.close())
    const page = await context.newPage()
    const complaints: string[] = []
    page.on('pageerror', (error) => complaints.push(error.message))
    await page.addInitScript(() => {
      for (const name of ['localStorage', 'sessionStorage']) {
        Object.defineProperty(globalThis, name, {
          get() {
            throw new DOMException('Access is denied for this document.', 'SecurityError')
          },
        })
      }
    })
    await page.goto(showcase.url)

    await signIn(page, showcase.advertiserKey)
    await settled(page)
    await page.getByLabel('Colours').selectOption('dark')
    await open(page, '#/advertisers/1/purchases')

    assert.equal(await page.evaluate('document.documentElement.dataset.theme'), 'dark')
    assert.deepEqual(complaints, [])
    await page.reload()
    await page.getByRole('heading', { name: 'Sign in to Shelftrace' }).waitFor()
  })

  it('behind the last page that the interface has there is no next one, and a sentence says so', async (t) => {
    const { page } = await start(t, showcase.advertiserKey)
    // As if there were more rows than pages.
    await page.route(/reports\/spa\/product\.json$/u, async (route) => {
      const asked = route.request().postDataJSON() as { page?: number }
      const answer = await route.fetch({
        postData: JSON.stringify({ ...asked, ...('page' in asked && { page: 0 }) }),
      })
      const body = (await answer.json()) as object
      await route.fulfill({ response: answer, json: { ...body, totalRows: 10_020 } })
    })
    await open(page, '#/advertisers/1/performance?size=10&page=1000')

    const pager = page.getByRole('navigation', { name: 'Pages of the table' })
    await pager.getByText('10,001–10,010 of 10,020 rows').waitFor()
    assert.equal(await pager.getByRole('button', { name: 'Next' }).isEnabled(), false)
    await pager.getByText('There are no pages behind this one').waitFor()
    assert.equal(await pager.getByRole('button', { name: 'Previous' }).isEnabled(), true)
  })

  for (const timezoneId of ['Pacific/Honolulu', 'Pacific/Kiritimati']) {
    it(`the period that opens by itself ends with the day of the markets for a reader in ${timezoneId}`, async (t) => {
      const context = await browser.newContext({ locale: 'en-GB', timezoneId })
      t.after(async () => await context.close())
      const page = await context.newPage()
      await page.goto(showcase.url)
      await signIn(page, showcase.advertiserKey)
      await settled(page)

      const { endDate } = await rangeOf(page)
      const account = await fetch(`${showcase.url}/v2/advertisers/1/account`, {
        headers: { authorization: `Bearer ${showcase.advertiserKey}` },
      })
      const { markets, publishers } = (await account.json()) as AdvertiserAccount
      const own = new Set(publishers.flatMap(({ marketIds }) => marketIds))
      const days = markets
        .filter(({ id }) => own.has(id))
        .map(({ timeZone }) => dayOf(Date.now(), timeZone))
      assert.equal(endDate, days.toSorted().at(-1))
    })
  }
})
