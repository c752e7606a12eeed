// The field that offers values while someone types: by keys, by finger, and with an input method.
import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { noBrowser, until } from './browser.ts'
import { Stage } from './stage.ts'

const low = 60

describe('the field that offers values', { skip: noBrowser, timeout: 900_000 }, () => {
  const stage = new Stage()

  /** With a list that shows two or three of its options. */
  async function start(t: TestContext) {
    const visitor = await stage.enter(t, {
      key: stage.showcase.advertiserKey,
      address: '#/advertisers/1/performance',
    })
    const { page } = visitor
    await page.getByLabel('Filter by').selectOption('gtin')
    const field = page.getByRole('combobox', { name: 'Product' })
    await field.focus()
    const options = page.getByRole('listbox', { name: 'Product' }).getByRole('option')
    await options.nth(4).waitFor()
    await page.evaluate(`document.querySelector('.offers .list').style.maxHeight = '${low}px'`)
    return { ...visitor, field, options, chips: page.locator('.chip') }
  }

  it('scrolls to the option that the arrow keys have reached', async (t) => {
    const { page, options } = await start(t)
    const reached = `(() => {
      const list = document.querySelector('.offers .list').getBoundingClientRect()
      const option = document.querySelector('.offers [aria-selected=true]')?.getBoundingClientRect()
      return option !== undefined && option.top >= list.top - 1 && option.bottom <= list.bottom + 1
    })()`
    for (let presses = 0; presses < 5; presses += 1) await page.keyboard.press('ArrowDown')
    await until(page, reached)
    assert.equal(await options.nth(4).getAttribute('aria-selected'), 'true')
    for (let presses = 0; presses < 4; presses += 1) await page.keyboard.press('ArrowUp')
    await until(page, reached)
    assert.equal(await options.first().getAttribute('aria-selected'), 'true')
  })

  it('a finger that scrolls the list chooses nothing, and one that taps chooses', async (t) => {
    const { page, context, options, chips } = await start(t)
    const devices = await context.newCDPSession(page)
    await devices.send('Emulation.setTouchEmulationEnabled', { enabled: true })
    const box = await options.first().boundingBox()
    assert.ok(box !== null)
    const [x, y] = [box.x + 20, box.y + box.height / 2]
    const touch = async (type: 'touchStart' | 'touchMove' | 'touchEnd', at?: number) =>
      await devices.send('Input.dispatchTouchEvent', {
        type,
        touchPoints: at === undefined ? [] : [{ x, y: at }],
      })

    // A tap while the list still rolls only stops it.
    await page.evaluate(`document.querySelector('.offers .list')
      .addEventListener('scrollend', (event) => { event.target.dataset.hasStopped = 'yes' })`)
    await touch('touchStart', y)
    for (let moved = 10; moved <= 60; moved += 10) await touch('touchMove', y - moved)
    await touch('touchEnd')
    await until(page, `document.querySelector('.offers .list').dataset.hasStopped === 'yes'`)
    assert.ok((await page.evaluate(`document.querySelector('.offers .list').scrollTop`)) !== 0)
    assert.equal(await chips.count(), 0)
    assert.equal(await options.first().isVisible(), true)

    await page.evaluate(`document.querySelector('.offers .list').scrollTop = 0`)
    await touch('touchStart', y)
    await touch('touchEnd')
    await chips.first().waitFor()
    assert.equal(await chips.count(), 1)
  })

  it('keys that an input method takes choose nothing', async (t) => {
    const { page, field, chips } = await start(t)
    await page.keyboard.press('ArrowDown')
    await until(page, `document.querySelector('.offers [aria-selected=true]') !== null`)
    const press = async (isComposing: boolean) =>
      await field.dispatchEvent('keydown', { key: 'Enter', bubbles: true, isComposing })
    await press(true)
    assert.equal(await chips.count(), 0)
    assert.equal(await field.getAttribute('aria-expanded'), 'true')
    await press(false)
    await chips.first().waitFor()
  })
})
