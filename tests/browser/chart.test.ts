// The chart: what is drawn, in which units and colours, and what is read of it.
import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import { addDays } from '../../src/domain/day.ts'
import { noBrowser, open, settled, signIn, until, visit } from './browser.ts'
import { recordDrawnTexts } from './drawn-texts.ts'
import { findBarriers, rangeOf, readDays, readTotals } from './read-page.ts'
import { Stage } from './stage.ts'

const performance = '#/advertisers/1/performance'

describe('the chart of the dashboard', { skip: noBrowser, timeout: 900_000 }, () => {
  const stage = new Stage()

  async function start(t: TestContext) {
    const visitor = await visit(
      { browser: stage.browser, url: stage.showcase.url, address: '#/nowhere' },
      t
    )
    await visitor.context.addInitScript({ content: recordDrawnTexts })
    await signIn(visitor.page, stage.showcase.advertiserKey)
    await visitor.page.reload()
    return visitor
  }

  it('a press on a tile draws its metric in the colour of the tile, of its line and of its axis; a third one replaces the second', async (t) => {
    const { page } = await start(t)
    await open(page, performance)
    assert.deepEqual(await pressedTiles(page), ['Spend', 'Value'])
    await page.locator('.tiles').getByRole('button', { name: 'Clicks' }).click()
    await settled(page)
    assert.deepEqual(await pressedTiles(page), ['Clicks', 'Spend'])
    assert.match(page.url(), /chart=AD_SPEND_REVENUE%2CCLICKS/u)

    const colors = await page.evaluate<readonly string[]>(
      `[...document.querySelectorAll('.legend .swatch')].map((swatch) => getComputedStyle(swatch).backgroundColor)`
    )
    const bars = await page.evaluate<readonly string[]>(
      `['AD_SPEND_REVENUE', 'CLICKS'].map((name) => getComputedStyle(document.querySelector('[data-total=' + name + ']')).boxShadow)`
    )
    const titles = await page.evaluate<readonly string[]>('drawn')
    for (const [place, title] of ['Spend, €', 'Clicks'].entries()) {
      const color = colors[place] ?? assert.fail()
      assert.ok(bars[place]?.startsWith(color), `${title}: ${color} in ${bars[place]}`)
      assert.ok(titles.some((text) => text.startsWith(`${title} at`) && text.endsWith(hex(color))))
    }
    await page.locator('.tiles').getByRole('button', { name: 'Clicks' }).click()
    await page.locator('.tiles').getByRole('button', { name: 'Spend', exact: true }).click()
    await settled(page)
    assert.deepEqual(await pressedTiles(page), ['Spend'])
    assert.deepEqual(await findBarriers(page), [])
  })

  it('the cursor stands on the day that is read, and what is read says the day of the week', async (t) => {
    const { page } = await start(t)
    await open(page, performance)
    const box = (await page.locator('.u-over').boundingBox()) ?? assert.fail()
    const lineAt = async (x: number) => {
      await page.mouse.move(box.x + x, box.y + 60)
      const line = (await page.locator('.u-cursor-x').boundingBox()) ?? assert.fail()
      return Math.round(line.x)
    }
    const middle = box.width / 2
    const near = await lineAt(middle)
    const step = box.width / 27
    assert.equal(Math.abs(near - (box.x + middle)) <= step / 2 + 1, true)
    const all = new Set<number>()
    for (let x = middle; x < middle + step; x += 3) all.add(await lineAt(x))
    assert.ok(all.size <= 2, [...all].join())
    assert.match(
      await page.locator('.readout .day').innerText(),
      /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), /u
    )
    const readout = (await page.locator('.readout').boundingBox()) ?? assert.fail()
    assert.ok(readout.x >= 0 && readout.x + readout.width <= 1_440)
  })

  it('the ring of the focus crosses nothing that is read, on the first, the middle and the last day', async (t) => {
    const { page } = await start(t)
    await open(page, performance)
    const plot = page.locator('.plot')
    await plot.focus()
    assert.equal(
      await page.evaluate(`getComputedStyle(document.querySelector('.plot')).outlineStyle`),
      'solid'
    )
    const ring = (await plot.boundingBox()) ?? assert.fail()
    for (const [key, count] of [
      ['ArrowRight', 1],
      ['ArrowRight', 14],
      ['ArrowRight', 28],
    ] as const) {
      for (let step = 0; step < count; step += 1) await page.keyboard.press(key)
      const read = (await page.locator('.readout').boundingBox()) ?? assert.fail()
      assert.ok(read.x >= ring.x && read.x + read.width <= ring.x + ring.width, `${count}: beside`)
      assert.ok(read.y >= ring.y && read.y + read.height <= ring.y + ring.height, `${count}: above`)
    }
  })

  it('weeks and months add up to the totals, and long periods are drawn by them by themselves', async (t) => {
    const { page } = await start(t)
    await open(page, `${performance}?chart=IMPRESSIONS,CLICKS`)
    const { IMPRESSIONS: total } = await readTotals(page)
    for (const name of ['Week', 'Month', 'Day']) {
      await page.getByRole('button', { name, exact: true }).click()
      await settled(page)
      const sums = (await readDays(page)).map(([, values]) => Number(values['IMPRESSIONS']))
      await page.getByText('The chart as a table').click()
      assert.equal(String(sums.reduce((sum, one) => sum + one, 0)), total, name)
    }
    const { endDate } = await rangeOf(page)
    for (const [days, interval] of [
      [62, 'Day'],
      [63, 'Week'],
      [401, 'Month'],
    ] as const) {
      await open(page, `${performance}?from=${addDays(endDate, 1 - days)}&to=${endDate}`)
      const pressed = page.locator('.segments [aria-pressed=true]')
      assert.equal(await pressed.innerText(), interval)
    }
    await page.evaluate('drawn.length = 0')
    await open(page, `${performance}?from=${addDays(endDate, -730)}&to=${endDate}`)
    await until(page, 'drawn.length > 0')
    const labels = await page.evaluate<readonly string[]>('[...new Set(drawn)]')
    const years = labels.filter((text) => /^20\d\d at/u.test(text))
    assert.ok(years.length >= 1 && years.length <= 3, labels.join())
  })

  it('what it is compared with is drawn too, and read with its change', async (t) => {
    const { page } = await start(t)
    await page.route(/series\.json$/u, async (route) => {
      const answer = await route.fetch()
      const body = (await answer.json()) as object
      await route.fulfill({ response: answer, json: { ...body, firstDay: '2020-01-01' } })
    })
    await open(page, `${performance}?period=last-7&chart=IMPRESSIONS`)
    await page.locator('.legend').getByText('compared with').waitFor()
    await page.locator('.plot').focus()
    await page.keyboard.press('ArrowRight')
    await page
      .locator('.readout')
      .getByText(/from \d/u)
      .waitFor()
  })

  it('days before the first figures are blank, and days that are not over are marked as such', async (t) => {
    const { page } = await start(t)
    await open(page, `${performance}?period=last-90&by=day&chart=IMPRESSIONS`)
    const days = await readDays(page)
    assert.equal(days[0]?.[1]['IMPRESSIONS'], '')
    assert.notEqual(days.at(-1)?.[1]['IMPRESSIONS'], '')

    await open(page, `${performance}?period=last-7&today=included`)
    await page.locator('.plot').focus()
    await page.keyboard.press('ArrowLeft')
    assert.match(await page.locator('.readout .day').innerText(), /, so far$/u)
  })
})

async function pressedTiles(page: Page): Promise<readonly string[]> {
  return await page.locator('.tiles [aria-pressed=true]').allInnerTexts()
}

/** `rgb(1, 2, 3)` as a canvas spells it. */
function hex(color: string): string {
  const parts = [...color.matchAll(/\d+/gu)].map(([part]) => Number(part))
  return `#${parts.map((part) => part.toString(16).padStart(2, '0')).join('')}`
}
