// Figures and names that are longer than most, on screens of all widths.
import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import { noBrowser, open } from './browser.ts'
import { operatorPages } from './operator-pages.ts'
import { isTooWide, paper, twoFrames } from './read-page.ts'
import { Stage } from './stage.ts'

const height = 900

const advertiserPages = [
  '#/overview',
  '#/advertisers/1/performance',
  '#/advertisers/1/performance?group=rows',
  '#/advertisers/1/performance?group=rows&currency=all-EUR',
  '#/advertisers/1/performance?title=Kaffee&market=DE',
  '#/advertisers/1/purchases',
  '#/advertisers/1/placements',
  '#/advertisers/1/assets',
  '#/advertisers/1/products/2940000000007',
]

/** Of phones, of screens that are zoomed, of ordinary ones, and around the widths at which columns change. */
const widths = [320, 380, 390, 619, 620, 720, 760, 761, 800, 960, 1_099, 1_100, 1_599, 1_600, 1_920]

describe('figures and names of any length', { skip: noBrowser, timeout: 900_000 }, () => {
  const stage = new Stage({ shoppers: 20, days: 5, adsPerDay: 200 })

  for (const { value, currency, locale } of [
    { value: '123456.78', currency: 'EUR', locale: 'en-GB' },
    { value: '12345678.90', currency: 'EUR', locale: 'en-GB' },
    { value: '12345678.90', currency: 'EUR', locale: 'de-DE' },
    { value: '12345678.90', currency: 'CHF', locale: 'de-CH' },
    { value: '12345678.900', currency: 'KWD', locale: 'en-GB' },
  ]) {
    it(`totals of ${value} ${currency} stand whole in their tiles and on one line, on a screen of any width and on paper, in ${locale}`, async (t) => {
      const page = await enterAsRich(t, { value, currency, locale })
      for (const width of widths) {
        await page.setViewportSize({ width, height })
        assert.deepEqual(await badFigures(page), [], `at ${width}`)
      }
      await page.setViewportSize(paper)
      await page.emulateMedia({ media: 'print' })
      assert.deepEqual(await badFigures(page), [], 'on paper')
    })
  }

  for (const name of [
    '2026_Q4_DE_SponsoredProducts_CoffeeBeans_Retargeting_Broad_v2',
    `Vereinigte${'Kaffeeröstereien'.repeat(9)}`,
  ]) {
    it(`no page becomes wider than the screen by names of ${name.length} characters without a blank`, async (t) => {
      const page = await enterAmongLongNames(t, name)
      await open(page, '#/advertisers/1/purchases')
      const [purchase = ''] = await page.evaluate<readonly string[]>(
        `[...document.querySelectorAll('[data-column=TRANSACTION_ID] a')].map((one) => one.hash)`
      )
      const [publisherId = '', transactionId = ''] =
        purchase.split('?')[0]?.split('/').slice(4) ?? []
      const wide: string[] = []
      assert.notEqual(transactionId, '')
      for (const address of [
        purchase,
        `#/operator/lookup/${publisherId}/${transactionId}`,
        ...advertiserPages,
        ...operatorPages,
      ]) {
        await open(page, address)
        if (address === purchase) await page.locator('.story').getByText(name).first().waitFor()
        for (const width of [320, 390, 720, 1_440]) {
          await page.setViewportSize({ width, height })
          await page.evaluate(twoFrames)
          if (await isTooWide(page)) wide.push(`${address} at ${width}`)
        }
        await page.setViewportSize(paper)
        await page.emulateMedia({ media: 'print' })
        await page.evaluate(twoFrames)
        if (await isTooWide(page)) wide.push(`${address} on paper`)
        await page.emulateMedia({ media: 'screen' })
      }
      assert.deepEqual(wide, [])
    })
  }

  /** Whatever has a name or a title has this one. */
  async function enterAmongLongNames(t: TestContext, name: string): Promise<Page> {
    const { page } = await stage.enter(t, { key: stage.showcase.adminKey, address: '#/nowhere' })
    await page.route(/\/(?:v2|admin\/v1)\//u, async (route) => {
      const response = await route.fetch()
      if (response.headers()['content-type']?.startsWith('application/json') !== true) {
        return await route.fulfill({ response })
      }
      const isStatus = new URL(route.request().url()).pathname === '/admin/v1/status'
      const answer: object = JSON.parse(await response.text(), (key, value: unknown) =>
        typeof value === 'string' && /(?:^|_)(?:name|title)$/iu.test(key) ? name : value
      )
      const believeEverybody = { publishers: [{ id: 10, name }], total: 1 }
      const json = isStatus ? { ...answer, believeEverybody } : answer
      return await route.fulfill({ response, json })
    })
    await page.reload()
    return page
  }

  /** An account with large amounts of the currency. */
  async function enterAsRich(
    t: TestContext,
    { value, currency, locale }: Readonly<Record<'value' | 'currency' | 'locale', string>>
  ): Promise<Page> {
    const { page } = await stage.enter(t, {
      key: stage.showcase.advertiserKey,
      address: '#/nowhere',
      locale,
    })
    await page.route(/series\.json$/u, async (route) => {
      const response = await route.fetch()
      const answer = (await response.json()) as { totals: Record<string, string>[] }
      const total = {
        ...answer.totals[0],
        CURRENCY: currency,
        CONVERSION_VALUE: value,
        AD_SPEND_REVENUE: value,
        IMPRESSIONS: value.split('.')[0] ?? '',
      }
      await route.fulfill({ response, json: { ...answer, totals: [total] } })
    })
    await open(page, '#/advertisers/1/performance')
    return page
  }
})

/** Figures of tiles in sight that leave their column or take two lines. */
async function badFigures(page: Page): Promise<readonly string[]> {
  const { shown, bad } = await page.evaluate<{ shown: number; bad: readonly string[] }>(`(() => {
    const tiles = [...document.querySelectorAll('main .tile')].filter((one) => one.checkVisibility())
    const bad = tiles.flatMap((tile) => {
      const column = tile.querySelector('dd').getBoundingClientRect()
      const text = document.createRange()
      text.selectNodeContents(tile.querySelector('.value'))
      const { left, right, height } = text.getBoundingClientRect()
      const isWhole = left >= column.left - 0.5 && right <= column.right + 0.5
      const isOneLine = height < 2 * parseFloat(getComputedStyle(tile.querySelector('.value')).fontSize)
      return isWhole && isOneLine ? [] : [text.toString() + ' of ' + (right - left) + ' in ' + column.width]
    })
    return { shown: tiles.length, bad }
  })()`)
  assert.ok(shown >= 4)
  return bad
}
