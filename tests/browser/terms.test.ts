// Terms are explained where they stand: by mouse, by keyboard and by finger, in the reader's language.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { noBrowser, open, settled, until, type Visit } from './browser.ts'
import { assertFits, findBarriers } from './read-page.ts'
import { Stage } from './stage.ts'

const performance = '#/advertisers/1/performance'
const spend = 'What the counted impressions and clicks cost, each at the price of its ad.'
const isOpen = `document.querySelector('.tip').matches(':popover-open')`
const textOfTip = `document.querySelector('.tip p')?.textContent ?? ''`

describe('terms in the dashboard', { skip: noBrowser, timeout: 900_000 }, () => {
  const stage = new Stage()

  async function start(t: Parameters<Stage['enter']>[0], asked: Partial<Visit> = {}) {
    const key = stage.showcase.advertiserKey
    const visitor = await stage.enter(t, { key, address: performance, ...asked })
    await until(visitor.page, `document.getElementById('term-AD_SPEND_REVENUE') !== null`)
    return visitor
  }

  it('a mouse that rests on a heading shows its sentence, which stays while the mouse is on it', async (t) => {
    const { page, complaints } = await start(t)
    const heading = page.locator('thead [data-term=AD_SPEND_REVENUE]')
    await heading.hover()
    await until(page, isOpen)
    assert.equal(await page.evaluate(textOfTip), spend)
    await page.locator('.tip a').hover()
    // Longer than it takes to close.
    await page.waitForTimeout(600)
    assert.equal(await page.evaluate(isOpen), true)
    assert.deepEqual(await findBarriers(page), [])
    await page.locator('h1').hover()
    await until(page, `!${isOpen}`)
    assert.deepEqual(complaints, [])
  })

  it('the focus shows it, Escape closes it, the tabulator reaches its link, and sorting stays sorting', async (t) => {
    const { page } = await start(t)
    const heading = page.getByRole('columnheader', { name: 'Clicks', exact: true })
    const button = heading.getByRole('button')
    // By keyboard: from the heading before.
    await page.getByRole('columnheader', { name: 'Units sold' }).getByRole('button').focus()
    await page.keyboard.press('Escape')
    await page.keyboard.press('Tab')
    await until(page, isOpen)
    assert.match(await page.evaluate<string>(textOfTip), /^How often shoppers clicked an ad/u)
    assert.equal(
      await page.evaluate(
        `document.getElementById(document.activeElement.getAttribute('aria-describedby')).textContent`
      ),
      await page.evaluate(textOfTip)
    )
    await page.keyboard.press('Escape')
    assert.equal(await page.evaluate(isOpen), false)
    await page.keyboard.press('Enter')
    await until(page, `location.hash.includes('sort=CLICKS')`)
    await settled(page)
    assert.equal(await heading.getAttribute('aria-sort'), 'descending')
    assert.equal((await button.innerText()).trim().startsWith('Clicks'), true)

    await page.keyboard.press('Shift+Tab')
    // Otherwise the next step is the link of that heading.
    await page.keyboard.press('Escape')
    await page.keyboard.press('Tab')
    await until(page, isOpen)
    await page.keyboard.press('Tab')
    assert.equal(await page.evaluate(`document.activeElement.closest('.tip') !== null`), true)
    await page.keyboard.press('Enter')
    await until(page, `location.hash === '#/help?term=CLICKS'`)
    await page.locator('.glossary .asked').getByText('Clicks', { exact: true }).waitFor()
    assert.equal(await page.evaluate(isOpen), false)
  })

  it('a tap on the word of a tile shows it and stays on the screen of a phone, in German', async (t) => {
    const { page } = await start(t, { size: 'phone', locale: 'de-DE' })
    const word = page.locator('.tile [data-term=RETURN_ON_AD_SPEND]')
    // As fingers do, without a mouse that moves there first.
    await word.dispatchEvent('pointerdown', { pointerType: 'touch', bubbles: true })
    await word.dispatchEvent('click', { pointerType: 'touch', bubbles: true })
    await until(page, isOpen)
    assert.match(await page.evaluate<string>(textOfTip), /^Umsatz geteilt durch Ausgaben/u)
    await assertFits(page, 'a phone with an explanation')
    const box = await page.locator('.tip').boundingBox()
    assert.ok(box !== null && box.x >= 0 && box.x + box.width <= 390 && box.y + box.height <= 844)
    assert.deepEqual(await findBarriers(page), [])
    await page.locator('h1').dispatchEvent('pointerdown', { pointerType: 'touch', bubbles: true })
    await until(page, `!${isOpen}`)
  })

  it('headings that do nothing else are buttons of 24 pixels that explain', async (t) => {
    const { page } = await stage.enter(t, {
      key: stage.showcase.adminKey,
      address: '#/operator/live',
    })
    const term = page.getByRole('button', { name: 'Waiting in the spool' })
    await term.click()
    await until(page, isOpen)
    assert.match(await page.evaluate<string>(textOfTip), /^The spool is the queue on disk/u)
    const heights = await page.evaluate<readonly number[]>(
      `[...document.querySelectorAll('button.term')].map((one) => one.getBoundingClientRect().height)`
    )
    assert.ok(heights.length >= 6)
    assert.deepEqual(
      heights.filter((height) => height < 24),
      []
    )
  })

  it('the help has every term in the language of the reader, says the version, and leads to the API of the service', async (t) => {
    const { page } = await start(t, { locale: 'de-DE' })
    await page.locator('.menu').getByText('Hilfe').click()
    await until(page, `location.hash === '#/help'`)
    await page.locator('.glossary').getByText('Klicks geteilt durch Impressionen.').waitFor()
    const names = await page.locator('.glossary dt').allInnerTexts()
    assert.ok(names.length > 25 && names.includes('Ausgaben') && names.includes('ROAS'))
    assert.deepEqual(await findBarriers(page), [])
    const contract = await fetch(`${stage.showcase.url}/openapi.json`)
    const { info } = (await contract.json()) as { readonly info: { readonly version: string } }
    await page.getByText(`Shelftrace, Version ${info.version}`, { exact: true }).waitFor()
    await page.getByRole('link', { name: 'API', exact: true }).click()
    await page.waitForURL(/\/docs$/u)
  })

  it('guides and the changelog open from the help, fit a phone, are sound, and lead to each other', async (t) => {
    const { page } = await start(t, { size: 'phone' })
    await open(page, '#/help')
    const links = page.getByRole('region', { name: 'Documents' }).locator('a[href^="#/help/"]')
    const addresses = await links.evaluateAll((all) => all.map((one) => one.getAttribute('href')))
    assert.equal(addresses.length, 6)
    for (const address of addresses) {
      await open(page, address ?? '')
      await page.locator('.document h1').waitFor()
      await assertFits(page, address ?? '')
      assert.deepEqual(await findBarriers(page), [])
      const inner = page.locator('.document a[href^="#"]')
      const led = await inner.evaluateAll((all) => all.map((one) => one.getAttribute('href')))
      assert.deepEqual(
        led.filter((one) => !addresses.includes(one)),
        []
      )
    }
  })

  it('the help is there on a phone and in the dark, and its address opens it at a term', async (t) => {
    const { page } = await start(t, { size: 'phone', colorScheme: 'dark' })
    await open(page, '#/help?term=ORDERS')
    await page.locator('.glossary .asked dt').getByText('Orders').waitFor()
    await until(
      page,
      `document.querySelector('.glossary .asked').getBoundingClientRect().top < innerHeight`
    )
    await assertFits(page, 'the help')
    assert.deepEqual(await findBarriers(page), [])
  })
})
