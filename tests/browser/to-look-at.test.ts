// The page of what does not count or does not fit, in a real browser, before a service that has one or
// more of everything, and before one that has nothing of it.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, it, type TestContext } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import type { ConflictPage } from '../../src/contract/conflicts.ts'
import type { UnconvertedPage } from '../../src/contract/unconverted.ts'
import type { UnknownIds } from '../../src/contract/unknown-ids.ts'
import { openEmbeddedWarehouse } from '../../src/warehouse/embedded.ts'
import { placement } from '../helpers/placement.ts'
import { eventually, prepareService, type Service } from '../helpers/service.ts'
import {
  launchBrowser,
  noBrowser,
  open,
  settled,
  signIn,
  until,
  visit,
  type Size,
} from './browser.ts'
import { findBarriers } from './read-page.ts'
import { aBundle } from '../helpers/bundle.ts'

const address = '#/operator/to-look-at'
const sections = [
  'Deliveries that are not believed',
  'Records set aside',
  'Amounts without a rate',
  'Conflicting repeats',
  'Ids the catalog does not have',
] as const
const transactionId = 'order 7/ü'
/** Of a purchase that never came. */
const returnedId = 'only-sent-back'
const damagedCount = 2

interface Purchase {
  readonly transaction_id: string
  readonly site_id?: number
  readonly price: number
}

describe('the page of what to look at', { skip: noBrowser, timeout: 900_000 }, () => {
  const closers: (() => Promise<void>)[] = []
  let service: Service
  let browser: Browser

  before(async () => {
    service = await prepareService({ after: (close) => closers.push(close) })
    await service.start()
    await send('PUT', '/admin/v1/catalog', aBundle())
    browser = await launchBrowser()
  })
  after(async () => {
    await browser?.close()
    for (const close of closers) await close()
  })

  async function send(method: string, path: string, body?: unknown): Promise<Response> {
    const response = await service.admin(method, path, body)
    assert.ok(response.ok, `${path}: ${response.status} ${await response.clone().text()}`)
    return response
  }

  /** A click in a currency without a rate, a conflict of a purchase and one of a return, and a site that the catalog lacks. */
  async function deliver(): Promise<void> {
    const link = {
      ...placement,
      gtin: '4006381333931',
      userId: 'shopper-1',
      currency: 'USD',
      costPerClick: '1234.5',
    }
    const minted = await send('POST', '/admin/v1/tracking-links', { links: [link] })
    const { links } = (await minted.json()) as { links: { trackingData: string }[] }
    const lines = links.map(({ trackingData }) =>
      JSON.stringify({ type: 'click', trackingData, receivedAt: new Date().toISOString() })
    )
    const backfill = await fetch(`${service.campaignUrl}/admin/v1/events`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.adminKey}` },
      body: lines.join('\n'),
    })
    assert.equal(backfill.status, 200, await backfill.text())
    for (const price of [10, 11]) await convert({ transaction_id: transactionId, price })
    await convert({ transaction_id: 'elsewhere', site_id: 666, price: 1 })
    for (const quantity of [1, 2]) {
      await track('return', {
        transaction_id: returnedId,
        return_id: 'return-7',
        products: [{ gtin: '4006381333931', quantity }],
      })
    }
  }

  async function convert({ price, ...changes }: Purchase): Promise<void> {
    await track('conversion', {
      user_id: 'shopper-1',
      site_id: 101,
      currency: 'EUR',
      products: [{ gtin: '4006381333931', price, quantity: 1 }],
      ...changes,
    })
  }

  async function track(what: 'conversion' | 'return', body: object): Promise<void> {
    const response = await fetch(`${service.trackingUrl}/${what}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ publisher_id: 10, ...body }),
    })
    assert.equal(response.status, 200, await response.text())
  }

  async function read<Body>(path: string): Promise<Body> {
    return (await (await send('GET', path)).json()) as Body
  }

  async function showsAll(): Promise<void> {
    const today = Date.now()
    const day = (offset: number) => new Date(today + offset * 86_400_000).toISOString().slice(0, 10)
    await eventually('everything has reached the lists', async () => {
      const conflicts = await read<ConflictPage>('/admin/v1/conflicts')
      const unknown = await read<UnknownIds>('/admin/v1/unknown-ids')
      const range = `startDate=${day(-1)}&endDate=${day(1)}`
      const { rows } = await read<UnconvertedPage>(`/admin/v1/unconverted?${range}`)
      assert.deepEqual([conflicts.total, unknown.total, rows.length], [2, 1, 1])
      return true
    })
  }

  async function start(t: TestContext, size: Size = 'desktop') {
    const visitor = await visit({ browser, url: service.campaignUrl, size, address }, t)
    await signIn(visitor.page, service.adminKey)
    await settled(visitor.page)
    return visitor
  }

  for (const size of ['phone', 'desktop'] as const) {
    it(`with nothing to look at every section says so, at ${size} width`, async (t) => {
      const { page, complaints } = await start(t, size)

      for (const name of sections) {
        await sectionOf(page, name).getByText('Nothing to look at').waitFor()
      }
      await expectSound(page)
      assert.deepEqual(complaints, [])
    })
  }

  describe('with something of everything', () => {
    before(async () => {
      await service.terminate()
      await setAside(service.dataDir)
      await service.start()
      await deliver()
      await showsAll()
    })

    for (const size of ['phone', 'desktop'] as const) {
      it(`every list shows what there is, is sound for assistive programs and fits, at ${size} width`, async (t) => {
        const { page, complaints } = await start(t, size)

        await sectionOf(page, 'Records set aside').getByText('Frame').first().waitFor()
        const amounts = sectionOf(page, 'Amounts without a rate')
        await amounts.getByRole('cell', { name: 'US$1,234.5' }).waitFor()
        await sectionOf(page, 'Conflicting repeats').getByText('Shown: 2 of 2').waitFor()
        const ids = sectionOf(page, 'Ids the catalog does not have')
        await ids.getByRole('cell', { name: 'Publisher 10' }).waitFor()
        const disbelieved = sectionOf(page, 'Deliveries that are not believed')
        await disbelieved.getByText('Anybody can report purchases').waitFor()
        await expectSound(page)
        assert.deepEqual(complaints, [])
      })
    }

    it('a conflict leads to the explanation of its purchase, whatever its id is made of', async (t) => {
      const { page } = await start(t)
      const conflicts = sectionOf(page, 'Conflicting repeats')
      await conflicts.getByText('Example Shop').first().waitFor()
      await conflicts.getByRole('link', { name: transactionId }).click()
      await page.getByRole('heading', { name: 'Look up a purchase' }).waitFor()
      await settled(page)

      assert.equal(await page.getByLabel('Transaction id').inputValue(), transactionId)
      await page.getByText('Counted').first().waitFor()
    })

    it('a return that came again with other content is found where its conflict leads, though its purchase never came', async (t) => {
      const { page, complaints } = await start(t)
      await sectionOf(page, 'Conflicting repeats').getByRole('link', { name: returnedId }).click()
      const returns = page.getByRole('region', { name: 'Returns of the purchase' }).locator('tbody')
      await returns.first().waitFor()
      await settled(page)

      await page.getByText('No delivery of the purchase itself is known.').waitFor()
      assert.deepEqual(await returns.locator('th').allInnerTexts(), ['return-7', 'return-7'])
      assert.deepEqual(await returns.locator('[data-column=conflict]').allInnerTexts(), [
        'no',
        'yes',
      ])
      await expectSound(page)
      assert.deepEqual(complaints, [])
    })

    it('counts stand on top and lead to their lists, and a long list is folded until it is asked for', async (t) => {
      const { page, complaints } = await start(t)
      await page.route('**/admin/v1/unknown-ids', async (route) => {
        const response = await route.fetch()
        const found = (await response.json()) as UnknownIds
        const ids = Array.from({ length: 11 }, (_, id) => ({ ...found.ids[0], id }))
        await route.fulfill({ response, json: { ...found, ids, total: ids.length } })
      })
      await page.reload()
      await settled(page)
      const rows = sectionOf(page, 'Ids the catalog does not have').locator('tbody tr')
      const count = (label: string) => page.locator('.tile', { hasText: label }).locator('data')
      await until(page, `document.querySelectorAll('main .tile a').length === 4`)
      const shown = ['Not believed', 'Set aside', 'Without a rate', 'Conflicting', 'Unknown ids']
      assert.deepEqual(
        await Promise.all(shown.map(async (label) => await count(label).getAttribute('value'))),
        ['0', '3', '1', '2', '11']
      )
      assert.equal(await rows.count(), 0)
      assert.equal(await sectionOf(page, 'Conflicting repeats').locator('tbody tr').count(), 2)
      await expectSound(page)

      await page.locator('.tile', { hasText: 'Unknown ids' }).getByRole('link').click()
      await rows.last().waitFor()
      const isThere = `(() => {
        const list = document.activeElement
        const { top } = list.getBoundingClientRect()
        return list.id === 'unknown-ids' && top >= 0 && top < innerHeight
      })()`
      await until(page, isThere)
      await page.reload()
      await rows.last().waitFor()
      await until(page, isThere)
      assert.equal(await rows.count(), 11)
      await expectSound(page)
      assert.deepEqual(complaints, [])

      await open(page, '#/operator/live')
      await page.locator('.tile', { hasText: 'Conflicting' }).getByRole('link').click()
      await until(page, `document.activeElement.id === 'conflicts'`)
    })

    it('a list that cannot be loaded says so by itself, and trying again shows it', async (t) => {
      const { page } = await start(t)
      let isBroken = true
      await page.route('**/admin/v1/conflicts*', async (route) => {
        if (isBroken) await route.fulfill({ status: 500, json: { messages: ['It broke here.'] } })
        else await route.continue()
      })
      await open(page, '#/nowhere')
      await open(page, address)
      const conflicts = sectionOf(page, 'Conflicting repeats')
      await conflicts.getByText('It broke here.').waitFor()
      await sectionOf(page, 'Ids the catalog does not have').getByText('Publisher 10').waitFor()
      isBroken = false
      await conflicts.getByRole('button', { name: 'Try again' }).click()

      await conflicts.getByText('Shown: 2 of 2').waitFor()
    })

    it('records are shipped once more by keyboard alone, after a question, and the result is told and has the focus', async (t) => {
      const { page } = await start(t)
      const records = sectionOf(page, 'Records set aside')
      assert.equal(await records.locator('tbody tr').count(), damagedCount + 1)
      const opener = records.getByRole('button', { name: 'Ship the shown ones once more' })
      await opener.focus()
      await page.keyboard.press('Enter')
      await records.getByText('Is the cause mended? Records shown: 3.').waitFor()
      await records.getByRole('button', { name: 'Not now' }).press('Enter')
      assert.equal(
        await page.evaluate('document.activeElement.textContent'),
        await opener.innerText()
      )
      assert.equal(await records.getByRole('button', { name: 'Yes, ship them' }).count(), 0)

      await page.keyboard.press('Enter')
      await page.keyboard.press('Tab')
      await page.keyboard.press('Enter')
      const result = records.getByText('Shipped: 1. Set aside again: 2. Still waiting: 2.')
      await result.waitFor()
      await settled(page)

      assert.match(String(await page.evaluate('document.activeElement.textContent')), /^Shipped: 1/)
      assert.equal(await records.locator('tbody tr').count(), damagedCount)
      await expectSound(page)
    })
  })
})

function sectionOf(page: Page, name: (typeof sections)[number]) {
  return page.getByRole('region', { name, exact: true }).and(page.locator('section'))
}

async function expectSound(page: Page): Promise<void> {
  assert.deepEqual(await findBarriers(page), [])
  const overflow = Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'))
  assert.ok(overflow <= 0, `the page is ${overflow} pixels wider than the screen`)
}

/** One record that can be shipped by now, and some that never can. */
async function setAside(dataDir: string): Promise<void> {
  const warehouse = openEmbeddedWarehouse({ path: join(dataDir, 'warehouse') })
  const conversion = {
    type: 'conversion',
    receivedAtMs: Date.now() - 60_000,
    publisherId: 10,
    siteId: 101,
    transactionId: 'waited',
    userIdentity: '',
    loginIdentity: '',
    currency: 'EUR',
    lines: [{ gtin: '4006381333931', groupId: '', brand: '', price: 5, quantity: 1 }],
    origin: { kind: 'backfill' },
  }
  const base = { set_aside_at: '2026-03-01 00:00:00.000001', reason: 'Code: 6. Cannot parse.' }
  const rows = [
    { ...base, key: 'aa'.repeat(16), record: JSON.stringify(conversion) },
    ...Array.from({ length: damagedCount }, (_, index) => ({
      ...base,
      key: `b${index}`.repeat(16),
      record: Buffer.from(`damaged ${index}`).toString('base64'),
    })),
  ]
  const lines = rows.map((row) => `${JSON.stringify(row)}\n`).join('')
  await warehouse.insert('set_aside', Buffer.from(lines))
  await warehouse.close()
}
