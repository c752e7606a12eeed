// The purchases of an advertiser: their list, and the story of each.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, it } from 'node:test'
import { noBrowser, open, settled, until } from './browser.ts'
import { assertFits, findBarriers } from './read-page.ts'
import { Stage } from './stage.ts'

const list = '#/advertisers/1/purchases'

describe('the purchases of an advertiser', { skip: noBrowser, timeout: 900_000 }, () => {
  const stage = new Stage({ shoppers: 60, days: 10, adsPerDay: 900 })

  for (const size of ['desktop', 'phone'] as const) {
    it(`a purchase is told as a story in names and times of its market, on a ${size}`, async (t) => {
      const key = stage.showcase.advertiserKey
      const { page, complaints } = await stage.enter(t, { key, address: list, size })
      await page.locator('[data-column=TRANSACTION_ID] a').first().click()
      await settled(page)

      const story = page.locator('section.story').first()
      const sentence = await story.locator('p').first().innerText()
      assert.match(sentence, /^Credited to you \(Clicks 14 days, impressions 1 day\): /u)
      assert.match(sentence, /, bought [\d,]+ for \S+, because the shopper (clicked|saw) your ad /u)
      assert.match(sentence, / in .+ › .+ before\.$/u)
      const kinds = await page.evaluate<readonly string[]>(
        `[...document.querySelector('section.story .timeline').children].map((one) => one.className.trim())`
      )
      assert.ok(kinds.includes('purchase'))
      assert.equal(kinds.filter((kind) => /\bwon\b/u.test(kind)).length, 1)
      await page
        .getByText(/^Bought at .+ \(\d+\); attributed as of .*the zone of the market /u)
        .waitFor()
      await assertFits(page, 'the story')

      await story.locator('summary').focus()
      await page.keyboard.press('Enter')
      await story.getByRole('table', { name: 'Ids of your clicks and impressions' }).waitFor()
      await assertFits(page, 'the story with its ids')
      assert.deepEqual(await findBarriers(page), [])
      assert.deepEqual(complaints, [])
    })
  }

  it('the story follows the attribution of the address', async (t) => {
    const key = stage.showcase.advertiserKey
    const { page } = await stage.enter(t, { key, address: list })
    const link = page.locator('[data-column=TRANSACTION_ID] a').first()
    const address = new URL((await link.getAttribute('href')) ?? '', page.url()).hash
    await open(page, `${address.split('?')[0] ?? ''}?profile=IMP_1_DAY`)
    const sentence = await page.locator('section.story p').first().innerText()
    assert.match(sentence, /^Credited to (you|nobody|another advertiser) \(Impressions 1 day\): /u)
  })

  it('the list has a row for each order, the newest first, with every column in sight at 1440 pixels', async (t) => {
    const key = stage.showcase.advertiserKey
    const { page } = await stage.enter(t, { key, address: `${list}?size=250` })
    const rows = await page.locator('td[data-column=DATE]').count()
    const orders = await page.locator('th[data-column=TRANSACTION_ID] a').allInnerTexts()
    assert.ok(rows > 0)
    assert.equal(rows, orders.length)
    assert.equal(new Set(orders).size, orders.length)
    const days = await page.evaluate<readonly number[]>(
      `[...document.querySelectorAll('td[data-column=DATE]')].map((one) => Date.parse(one.textContent))`
    )
    assert.ok(days.every((day) => day > 0))
    assert.deepEqual(
      days,
      days.toSorted((one, other) => other - one)
    )
    const isInSight = await page.evaluate(`(() => {
      const frame = document.querySelector('.table-frame')
      return frame.scrollWidth <= frame.clientWidth
    })()`)
    assert.equal(isInSight, true)

    const several = page.getByRole('button', { name: /^\d+ lines$/u }).first()
    if ((await several.count()) > 0) {
      await several.focus()
      await page.keyboard.press('Enter')
      await page.locator('th[data-column=TRANSACTION_ID]', { hasText: 'Line ' }).first().waitFor()
    }
    assert.deepEqual(await findBarriers(page), [])
  })

  it('a line of an order over several markets has its own currency, day and market, and the order none of these', async (t) => {
    const key = stage.showcase.advertiserKey
    const { page } = await stage.enter(t, { key, address: '#/advertisers/1/performance' })
    await page.route('**/attributions?*', async (route) => {
      const response = await route.fetch()
      const [header = '', line = ''] = (await response.text()).split('\r\n')
      const withCells = (changes: Readonly<Record<string, string>>) => {
        const names = header.split(',')
        const cells = line.split(',').map((cell, place) => changes[names[place] ?? ''] ?? cell)
        return cells.join()
      }
      const lines = [
        header,
        withCells({ LINE: '98', CURRENCY: 'EUR', CONVERSION_VALUE: '100', MARKET: 'DE' }),
        withCells({ LINE: '99', CURRENCY: 'JPY', CONVERSION_VALUE: '1624.5', MARKET: 'JP' }),
      ]
      await route.fulfill({ response, body: `${lines.join('\r\n')}\r\n` })
    })
    await open(page, list)

    await page.getByRole('button', { name: '2 lines' }).click()
    const rows = page.locator('tbody tr')
    const textsOf = async (column: string) =>
      await rows.locator(`[data-column=${column}]`).allInnerTexts()
    const [whole = '', own = '', foreign = ''] = await textsOf('CONVERSION_VALUE')
    assert.equal(whole, '–')
    assert.equal(own, '€100.00')
    assert.match(foreign, /¥1,62[45]$/u)
    const [market, , japan] = await textsOf('MARKET')
    assert.deepEqual([market, japan], ['several', 'JP'])
  })

  it('an order is found by its id, and rules and publishers narrow the list and its file', async (t) => {
    const key = stage.showcase.advertiserKey
    const { page } = await stage.enter(t, { key, address: list })
    const wanted = await page.locator('th[data-column=TRANSACTION_ID] a').nth(1).innerText()
    await page.getByLabel('Order id').fill(wanted)
    await page.keyboard.press('Enter')
    await until(page, `document.querySelectorAll('th[data-column=TRANSACTION_ID] a').length === 1`)
    assert.equal(await page.locator('th[data-column=TRANSACTION_ID] a').innerText(), wanted)

    await open(page, list)
    await page.getByRole('search').getByLabel('Credited for').selectOption('VIEW')
    await settled(page)
    const rules = new Set(await page.locator('td[data-column=RULE]').allInnerTexts())
    assert.deepEqual([...rules], ['View'])

    const saved = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download CSV' }).click()
    const text = await readFile(await (await saved).path(), 'utf8')
    const [header = '', ...rows] = text.trim().split('\r\n')
    assert.match(header, /^DATE,PURCHASED_AT,/u)
    assert.ok(rows.length > 0)
    assert.deepEqual(
      rows.filter((row) => !row.includes(',VIEW,')),
      []
    )
  })

  it('the list fits a phone', async (t) => {
    const key = stage.showcase.advertiserKey
    const { page } = await stage.enter(t, { key, address: list, size: 'phone' })
    await page.locator('th[data-column=TRANSACTION_ID] a').first().waitFor()
    await assertFits(page, 'the list')
    assert.deepEqual(await findBarriers(page), [])
  })
})
