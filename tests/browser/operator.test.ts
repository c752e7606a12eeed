// What operators do with a purchase, a key and a backup, in a real browser before the demo.
import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type { Explanation } from '../../src/contract/explanation.ts'
import { noBrowser, open, plainHost, settled, signIn, visit } from './browser.ts'
import { assertFits, findBarriers } from './read-page.ts'
import { Stage } from './stage.ts'

describe('the pages of an operator', { skip: noBrowser, timeout: 900_000 }, () => {
  const stage = new Stage()

  it('whatever can be revoked is in sight at 1440 pixels, without scrolling sideways, and so is the question', async (t) => {
    const key = stage.showcase.adminKey
    const { page, complaints } = await stage.enter(t, { key, address: '#/operator/keys' })
    await page.setViewportSize({ width: 1_440, height: 900 })
    const revoke = page.getByRole('button', { name: /^Revoke / })
    await revoke.first().waitFor()
    const hidden = `(() => {
      const frame = document.querySelector('.table-frame').getBoundingClientRect()
      const buttons = [...document.querySelectorAll('.table-frame button')]
      return buttons.filter((one) => one.getBoundingClientRect().right > frame.right).length
    })()`
    assert.equal(await page.evaluate(hidden), 0)

    await revoke.first().click()
    await page.getByRole('button', { name: 'Revoke for good' }).waitFor()
    assert.equal(await page.evaluate(hidden), 0)
    assert.deepEqual(await findBarriers(page), [])
    assert.deepEqual(complaints, [])
  })

  // Such pages have no clipboard of their own, and the key is shown only once.
  it('a fresh key is copied on plain HTTP too, and the page says so', async (t) => {
    const { browser, showcase } = stage
    const url = `http://${plainHost}:${new URL(showcase.url).port}`
    const { page, complaints } = await visit({ browser, url, address: '#/operator/keys' }, t)
    await signIn(page, showcase.adminKey)
    await settled(page)
    assert.equal(await page.evaluate('isSecureContext || navigator.clipboard !== undefined'), false)
    await page.getByText('Make a key, or invite a person').click()
    const name = page.getByLabel('Name: who holds it')
    await name.fill('Copied on plain HTTP')
    await page.getByLabel('Advertisers: all, or ids').fill('1')
    await page.getByLabel('read reports').check()
    await page.getByRole('button', { name: 'Make the key' }).click()
    await page.locator('.made').getByRole('button', { name: 'Copy' }).click()
    await page.locator('.made').getByText('Copied.').waitFor()

    await name.fill('')
    await name.press('Control+V')
    assert.equal(await name.inputValue(), await page.locator('.made code').innerText())
    assert.deepEqual(complaints, [])
  })

  for (const size of ['desktop', 'phone'] as const) {
    it(`a purchase is looked up in names, at ${size} width`, async (t) => {
      const key = stage.showcase.adminKey
      const address = await addressOfPurchase(t)
      const { page, complaints } = await stage.enter(t, { key, address, size })
      await page.getByRole('heading', { name: /^Deliveries of \D/ }).waitFor()

      const cells = (name: string) => page.locator(`td[data-column=${name}]`).allInnerTexts()
      const named = [...(await cells('ad')), ...(await cells('site')), ...(await cells('gtin'))]
      assert.ok(named.length > 1)
      assert.deepEqual(
        named.filter((text) => /^\d+$/u.test(text)),
        []
      )
      assert.ok((await cells('place')).some((text) => text.includes(' › ')))
      await assertFits(page, 'the purchase')
      assert.deepEqual(await findBarriers(page), [])
      assert.deepEqual(complaints, [])
    })
  }

  it('what was sent back, what remains of a line and what is not listed are told of a purchase, as in the terminal', async (t) => {
    const page = await lookUp(t, (explanation) => {
      const { deliveries, lines, names } = explanation
      const [line = assert.fail()] = lines
      const [delivery = assert.fail()] = deliveries
      const back = { deliveryId: 'ab'.repeat(16), receivedAt: '2026-03-01T10:00:00.000Z' }
      const products = [{ gtin: line.gtin, quantity: 1 }]
      const once = { ...back, returnId: 'back-1', standing: 'counted', isConflict: false } as const
      const again = { ...once, deliveryId: 'cd'.repeat(16), standing: 'later' } as const
      return {
        ...explanation,
        names: { ...names, products: [{ marketId: 1, gtin: line.gtin, title: 'Moka pot' }] },
        deliveries: [{ ...delivery, currency: 'EUR' }],
        returns: [
          { ...once, products },
          { ...again, isConflict: true, products },
        ],
        lines: [
          { ...line, quantity: 3, remainingQuantity: 2, remainingValue: '9.98' },
          { ...line, line: 2, remainingQuantity: 0, candidatesLeftOut: 12 },
        ],
        linesLeftOut: 1,
        deliveriesLeftOut: 2,
        returnsLeftOut: 3,
      }
    })
    const returns = page.getByRole('region', { name: 'Returns of the purchase' }).locator('tr')
    const texts = (await returns.allInnerTexts()).map((text) => text.split('\t'))
    assert.deepEqual(
      texts.map((cells) => cells.filter((_cell, place) => place === 0 || place > 2)),
      [
        ['Return', 'Standing', 'Conflict', 'Products'],
        ['back-1', 'Counted', 'no', '1 × Moka pot'],
        ['back-1', 'Later', 'yes', '1 × Moka pot'],
      ]
    )
    for (const text of [
      '1 of 3 were sent back: 2 for €9.98 still count.',
      'All of it was sent back, so nothing of it counts any more.',
      '12 more touchpoints are not listed.',
      '1 more line is not listed.',
      '2 more deliveries are not listed.',
      '3 more deliveries of returns are not listed.',
    ]) {
      assert.equal(await page.getByText(text, { exact: true }).count(), 1, text)
    }
    await assertFits(page, 'the purchase')
    assert.deepEqual(await findBarriers(page), [])
  })

  for (const { what, changes, told } of [
    {
      what: 'is frozen by an erasure',
      changes: { isFrozen: true },
      told: /is frozen by an erasure: credit stays with the same ads, returns and voids still/u,
    },
    { what: 'agrees', changes: {}, told: /^The attribution .* and agrees with this\.$/u },
  ]) {
    it(`a purchase whose attribution ${what} is told to be so, with when it was read`, async (t) => {
      const page = await lookUp(t, (explanation) => {
        const attribution = explanation.attribution ?? assert.fail()
        const readAt = '2026-03-01T10:00:00.000Z'
        return { ...explanation, attribution: { ...attribution, readAt, ...changes } }
      })
      const text = await page.getByText(told).innerText()
      assert.ok(text.includes('was read at 1 Mar 2026, '), text)
    })
  }

  async function addressOfPurchase(t: TestContext): Promise<string> {
    const { page } = await stage.enter(t, {
      key: stage.showcase.advertiserKey,
      address: '#/advertisers/1/purchases',
    })
    const link = page.locator('th[data-column=TRANSACTION_ID] a').first()
    const [, purchase = ''] =
      /purchases\/([^?]+)/u.exec((await link.getAttribute('href')) ?? '') ?? []
    assert.notEqual(purchase, '')
    return `#/operator/lookup/${purchase}`
  }

  /** The page of a purchase of which other things are true. */
  async function lookUp(t: TestContext, change: (explanation: Explanation) => Explanation) {
    const address = await addressOfPurchase(t)
    const key = stage.showcase.adminKey
    const { page } = await stage.enter(t, { key, address: '#/nowhere' })
    await page.route('**/admin/v1/conversions/**', async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, json: change((await response.json()) as Explanation) })
    })
    await open(page, address)
    await page.getByRole('heading', { name: /^Deliveries of / }).waitFor()
    return page
  }

  it('a backup that was never made is amber at once, with what to do', async (t) => {
    const key = stage.showcase.adminKey
    const { page } = await stage.enter(t, { key, address: '#/operator/live' })
    const tile = page.locator('.tile.odd')
    await tile.getByText('no backup').waitFor()
    await tile.getByText('Make one with shelftrace backup, once a day.').waitFor()
    assert.equal(await tile.locator('dt').innerText(), 'Age of the newest backup')
    assert.deepEqual(await findBarriers(page), [])
  })

  it('a backup of today is not amber, and one of the day before yesterday is', async (t) => {
    const key = stage.showcase.adminKey
    const { page } = await stage.enter(t, { key, address: '#/nowhere' })
    let ageSeconds = 25 * 3_600
    await page.route('**/metrics', async (route) => {
      const response = await route.fetch()
      const takenAt = Date.now() / 1_000 - ageSeconds
      const body = (await response.text()).replace(
        /^(shelftrace_last_backup_timestamp_seconds).*$/mu,
        `$1 ${takenAt}`
      )
      await route.fulfill({ response, body })
    })
    await open(page, '#/operator/live')
    const tile = page.locator('.tile', { hasText: 'Age of the newest backup' })
    await tile.getByText(/^25(?:\.0)? h$/u).waitFor()
    assert.equal(await page.locator('.tile.odd').count(), 0)

    ageSeconds = 27 * 3_600
    await page.locator('.tile.odd').waitFor()
    await settled(page)
  })
})
