// The purchases of an advertiser: their list, and the story of each.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { noBrowser, open, settled } from './browser.ts'
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
      await story.getByRole('table', { name: 'Ids of your clicks and views' }).waitFor()
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
})
