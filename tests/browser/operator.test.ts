// What operators do with a purchase, a key and a backup, in a real browser before the demo.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
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
      const { advertiserKey, adminKey: key } = stage.showcase
      const reader = await stage.enter(t, {
        key: advertiserKey,
        address: '#/advertisers/1/purchases',
      })
      const link = reader.page.locator('th[data-column=TRANSACTION_ID] a').first()
      const [, purchase = ''] =
        /purchases\/([^?]+)/u.exec((await link.getAttribute('href')) ?? '') ?? []
      assert.notEqual(purchase, '')

      const address = `#/operator/lookup/${purchase}`
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
