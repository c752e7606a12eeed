// In which currency a page shows its figures, and that totals and table agree on it.
import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import type { JsonSeries } from '../../src/contract/report-json.ts'
import { noBrowser, open, settled, until } from './browser.ts'
import { Stage } from './stage.ts'

const performance = '#/advertisers/1/performance'
const choice = (page: Page) => page.locator('.period-bar').getByLabel('Currency')

/** Totals as if other things had been counted, until `asItIs`. */
async function answerWith(page: Page, change: (text: string) => string): Promise<void> {
  await page.route(/(?:series|summary)\.json$/u, async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, body: change(await response.text()) })
  })
}

/** Waits for answers on their way, which would fail without the page. */
async function asItIs(page: Page): Promise<void> {
  await page.unrouteAll({ behavior: 'wait' })
}

const unknown = (total: JsonSeries['totals'][number]) => ({
  ...total,
  IMPRESSIONS: '1000000000',
  CURRENCY: '',
})

const seriesWith = (change: (series: JsonSeries) => JsonSeries) => (text: string) =>
  JSON.stringify(change(JSON.parse(text) as JsonSeries))

async function stepBack(page: Page): Promise<void> {
  const before = page.url()
  await page.getByRole('button', { name: 'Earlier period' }).click()
  await until(page, `location.href !== ${JSON.stringify(before)}`)
  await settled(page)
}

describe('the currency of a page', { skip: noBrowser, timeout: 600_000 }, () => {
  const stage = new Stage()

  async function start(t: TestContext, address: string) {
    return await stage.enter(t, { key: stage.showcase.advertiserKey, address })
  }

  for (const [what, address] of [
    ['totals and table', `${performance}?period=last-7`],
    ['the overview', '#/overview?period=last-7'],
  ] as const) {
    it(`stays while the reader steps in time, whichever has the most impressions then: ${what}`, async (t) => {
      const key = address === '#/overview?period=last-7' ? 'adminKey' : 'advertiserKey'
      const { page } = await stage.enter(t, { key: stage.showcase[key], address })
      const first = await choice(page).inputValue()
      const [own, other] = [first, 'AUD'].map((code) => `"CURRENCY":"${code}"`)
      await answerWith(page, (text) => text.replaceAll(own ?? '', other ?? ''))

      await stepBack(page)

      assert.equal(await choice(page).inputValue(), first)
      assert.match(page.url(), new RegExp(`currency=${first}`, 'u'))
      await asItIs(page)
    })
  }

  it('is said to have no figures where only others have some, which can be chosen', async (t) => {
    const { page, complaints } = await start(t, `${performance}?currency=EUR&period=last-7`)
    const withoutEuros = seriesWith((series) => ({
      ...series,
      totals: series.totals.filter(({ CURRENCY }) => CURRENCY !== 'EUR'),
    }))
    await answerWith(page, withoutEuros)
    await stepBack(page)

    await page.getByText('Nothing was counted in EUR in this period').waitFor()
    assert.equal(await page.locator('.tiles').count(), 0)
    await choice(page).selectOption('GBP')
    await settled(page)
    assert.equal(await page.locator('.tiles').count(), 1)
    assert.deepEqual(complaints, [])
    await asItIs(page)
  })

  it('is a known one by itself, and table and totals are of the unknown one only where that is chosen', async (t) => {
    const { page } = await start(t, '#/nowhere')
    const withUnknown = seriesWith((series) => ({
      ...series,
      totals: [...series.totals.slice(0, 1).map(unknown), ...series.totals],
    }))
    await answerWith(page, withUnknown)
    const questions: string[] = []
    page.on('request', (request) => {
      if (request.url().endsWith('groups.json')) questions.push(request.postData() ?? '')
    })
    await open(page, `${performance}?base=none`)
    const first = await choice(page).inputValue()
    assert.match(first, /^[A-Z]{3}$/u)
    await choice(page).selectOption({ label: 'unknown' })
    await settled(page)

    assert.match(page.url(), /currency=unknown/u)
    assert.equal(await choice(page).inputValue(), '')
    const asked = questions.map((text) => (JSON.parse(text) as { currency: string }).currency)
    assert.deepEqual(asked, [first, ''])
    await asItIs(page)
  })
  it('is the one whose missing amounts are told, on the page of an advertiser and in the overview', async (t) => {
    const key = stage.showcase.adminKey
    const { page } = await stage.enter(t, { key, address: '#/nowhere' })
    await answerWith(page, (text) =>
      text.replaceAll(
        /("CURRENCY":"GBP","ORDERS":[^,}]+),"UNCONVERTED":"0"/gu,
        '$1,"UNCONVERTED":"3"'
      )
    )
    for (const address of [performance, '#/overview']) {
      await open(page, `${address}?currency=EUR&period=last-7`)
      assert.equal(await page.getByText(/are missing from these figures/u).count(), 0, address)
      await choice(page).selectOption('GBP')
      await settled(page)
      await page.getByText(/^\d+ amounts are missing from these figures/u).waitFor()
    }
    await page.locator('.overview .sign', { hasText: '3 amounts without a rate' }).first().waitFor()
    await choice(page).selectOption('all-EUR')
    await settled(page)
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download CSV' }).click(),
    ])
    assert.match(download.suggestedFilename(), /_all-EUR_/u)
    await asItIs(page)
  })
})
