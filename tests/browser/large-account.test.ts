// A large account in small: several markets and currencies, many products, more advertisers than a page lists.
import assert from 'node:assert/strict'
import { after, before, describe, it, type TestContext } from 'node:test'
import type { Browser } from 'playwright-core'
import { fillLargeAccount } from '../helpers/large-account.ts'
import { largeAdvertiserId } from '../helpers/large-catalog.ts'
import { prepareService, type Service } from '../helpers/service.ts'
import { launchBrowser, noBrowser, open, settled, signIn, visit } from './browser.ts'
import { compareWithService, openAtOnce, signInAll } from './people.ts'
import { findBarriers } from './read-page.ts'

const size = {
  products: 60,
  markets: 3,
  days: 35,
  ads: 1_500,
  advertisers: 1_100,
  smallAds: 300,
  nowMs: Date.now(),
}
const performancePage = `#/advertisers/${largeAdvertiserId}/performance`

describe('a large account', { skip: noBrowser, timeout: 900_000 }, () => {
  const closers: (() => Promise<void>)[] = []
  let service: Service
  let browser: Browser

  before(async () => {
    service = await prepareService({ after: (close) => closers.push(close) })
    await service.start()
    await fillLargeAccount(service, size)
    browser = await launchBrowser()
    closers.push(() => browser.close())
  })
  after(async () => {
    for (const close of closers.toReversed()) await close()
  })

  async function keyFor(advertisers: 'all' | readonly number[]): Promise<string> {
    const request = { name: 'People', advertisers, scopes: ['report:read'] }
    const answer = await service.admin('POST', '/admin/v1/keys', request)
    assert.ok(answer.ok)
    return ((await answer.json()) as { key: string }).key
  }

  async function enter(t: TestContext, key: string, address: string) {
    const { page } = await visit({ browser, url: service.campaignUrl, address }, t)
    await signIn(page, key)
    await settled(page)
    return page
  }

  for (const [view, query] of [
    ['the default view', ''],
    ['all currencies in one', '?currency=all-EUR'],
  ] as const) {
    it(`shows six people who open ${view} at once the same figures, which are those of the service`, async (t) => {
      const key = await keyFor([largeAdvertiserId])
      const url = service.campaignUrl
      // Their clocks stand, so that nobody's day ends between two of them.
      const people = await signInAll({ browser, url, key, count: 6, nowMs: size.nowMs }, t)

      const shown = await openAtOnce(people, `${performancePage}${query}`)

      assert.deepEqual(
        shown.flatMap(({ failures }) => failures),
        []
      )
      const [first] = shown
      assert.ok(Number(first?.totals['IMPRESSIONS']) > 0)
      assert.ok((first?.rows.length ?? 0) > 1)
      for (const { figures } of shown) assert.deepEqual(figures, first?.figures)
      for (const [place, person] of people.entries()) {
        const own = shown[place] ?? assert.fail()
        assert.deepEqual(await compareWithService(person, own, { url, key }), [])
        assert.deepEqual(person.complaints, [])
      }
    })
  }

  it('lists each of more than a thousand advertisers once, in pages, and adds up all of them', async (t) => {
    const ids = Array.from({ length: size.advertisers }, (_, index) => index + 1)
    const page = await enter(t, await keyFor(ids), '#/overview')
    const readNames = async () =>
      await page.evaluate<readonly string[]>(
        `[...document.querySelectorAll('.overview tbody th')].map((one) => one.textContent)`
      )
    const next = page.getByRole('button', { name: 'Next' })
    const names = [...(await readNames())]
    const totals = await page.locator('.overview .totals').innerText()
    assert.match(totals, /Total \(1,?100\)/u)
    assert.deepEqual(await findBarriers(page), [])

    while (await next.isEnabled()) {
      await next.click()
      await settled(page)
      assert.equal(await page.locator('.overview .totals').innerText(), totals)
      names.push(...(await readNames()))
    }

    assert.deepEqual(
      names.toSorted(),
      ids.map((id) => (id === largeAdvertiserId ? 'Large Brand' : `Brand ${id}`)).toSorted()
    )
    // Whoever searches from the last page sees what was found.
    await page.getByRole('searchbox', { name: 'Find an advertiser' }).fill('brand 1099')
    assert.deepEqual(await readNames(), ['Brand 1099'])
  })

  it('offers each of more than a thousand advertisers by a part of its name, whatever the key is', async (t) => {
    const ids = Array.from({ length: size.advertisers }, (_, index) => index + 1)
    for (const key of [await keyFor(ids), await keyFor('all'), service.adminKey]) {
      const page = await enter(t, key, performancePage)
      const field = page.getByRole('combobox', { name: 'Advertiser' })
      await field.fill('rand 1100')
      await page.getByRole('option', { name: 'Brand 1100' }).click()
      await settled(page)
      assert.equal(await page.title(), 'Brand 1100 · Performance · Shelftrace')
      await open(page, '#/nowhere')
    }
  })
})
