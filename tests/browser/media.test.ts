// Paper, small screens, and screens whose colours the system sets.
import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { reportColumns } from '../../src/contract/report-columns.ts'
import { noBrowser, type Size } from './browser.ts'
import { assertFits, brokenWords, findBarriers, paper, twoFrames } from './read-page.ts'
import { Stage } from './stage.ts'

const performance = '#/advertisers/1/performance'
/** All that a table can have. */
const allColumns = [...reportColumns, 'ORDERS'].join(',')

describe(
  'the dashboard on paper, phones and in forced colours',
  { skip: noBrowser, timeout: 900_000 },
  () => {
    const stage = new Stage()

    async function start(t: TestContext, address: string, size: Size = 'desktop') {
      return await stage.enter(t, { key: stage.showcase.advertiserKey, address, size })
    }

    it('on paper stands what was asked, of whom and when, nothing to press, and nothing is cut', async (t) => {
      const { page } = await start(t, `${performance}?title=a&profile=CLK_14_DAYS`)
      await page.setViewportSize(paper)
      await page.emulateMedia({ media: 'print' })

      for (const text of [
        'Velmora Coffee',
        'Last 28 days: ',
        'Attribution: Clicks 14 days',
        'As of ',
      ]) {
        await page.locator('.print-only').getByText(text).first().waitFor()
      }
      const shown = await page.evaluate<readonly string[]>(
        `[...document.querySelectorAll('button, select, input, nav, summary')]
        .filter((one) => one.closest('thead, .tiles') === null && one.checkVisibility()).map((one) => one.outerHTML)`
      )
      assert.deepEqual(shown, [])
      await assertFits(page, 'the report on paper')
      const cut = await page.evaluate<readonly string[]>(
        `[...document.querySelectorAll('.table-frame, .card, th, td')]
        .filter((one) => one.scrollWidth > one.clientWidth + 1 || one.scrollHeight > one.clientHeight + 1)
        .map((one) => one.className + ' ' + one.textContent.slice(0, 40))`
      )
      assert.deepEqual(cut, [])
      const head = await page.evaluate(`getComputedStyle(document.querySelector('thead')).display`)
      assert.equal(head, 'table-header-group')
    })

    for (const { what, address } of [
      { what: 'the overview', address: '#/overview?currency=all-EUR' },
      { what: 'campaigns', address: `${performance}?group=campaigns&currency=all-EUR` },
      { what: 'products', address: `${performance}?group=products&currency=all-EUR` },
      { what: 'rows', address: `${performance}?group=rows&currency=all-EUR` },
      {
        what: 'rows with all columns',
        address: `${performance}?group=rows&currency=all-EUR&columns=${allColumns}`,
      },
      { what: 'purchases', address: '#/advertisers/1/purchases' },
    ]) {
      it(`names, ids and labels are not broken within a word, on a screen and on paper, and the paper is wide enough: ${what}`, async (t) => {
        const { adminKey: key } = stage.showcase
        const { page } = await stage.enter(t, { key, address })
        await page.locator('main table').first().waitFor()
        assert.deepEqual(await brokenWords(page, 'main :is(th, td, label, button)'), [])

        await page.setViewportSize(paper)
        await page.emulateMedia({ media: 'print' })
        await page.evaluate(twoFrames)
        assert.deepEqual(await brokenWords(page, 'main :is(th, td)'), [])
        await assertFits(page, 'the table on paper')
      })
    }

    it('on paper a table of which only a page is shown says which rows of how many stand there, and a whole one does not', async (t) => {
      for (const address of [
        `${performance}?group=rows&size=10`,
        '#/advertisers/1/purchases?size=10',
      ]) {
        const { page } = await start(t, address)
        await page.emulateMedia({ media: 'print' })
        await page
          .locator('p.print-only')
          .getByText(/^1–10 of [1-9]\d+ rows$/u)
          .waitFor()
      }
      const { page } = await start(t, `${performance}?group=campaigns`)
      await page.emulateMedia({ media: 'print' })
      assert.equal(
        await page
          .getByText(/–\d+ of \d+ rows/u)
          .filter({ visible: true })
          .count(),
        0
      )
    })

    it('the chart is drawn for the width and in the colours of paper, and on the screen as before afterwards', async (t) => {
      const { page } = await start(t, performance)
      await page.getByLabel('Colours').selectOption('dark')
      const widthOf = async () =>
        await page.evaluate<number>(
          `document.querySelector('.u-wrap').getBoundingClientRect().width`
        )
      const onScreen = await widthOf()
      await page.evaluate(`dispatchEvent(new Event('beforeprint'))`)
      assert.equal(await widthOf(), 1_000)
      assert.equal(
        await page.evaluate(`getComputedStyle(document.documentElement).colorScheme`),
        'light'
      )
      await page.evaluate(`dispatchEvent(new Event('afterprint'))`)
      assert.equal(await widthOf(), onScreen)
      const pdf = await page.pdf({ preferCSSPageSize: true })
      assert.ok(pdf.length > 10_000)
    })

    it('where the system sets the colours, lines, swatches, the current page and what is chosen can be told', async (t) => {
      const { page } = await start(t, performance)
      await page.emulateMedia({ forcedColors: 'active' })
      const swatches = await page.evaluate<readonly string[]>(
        `[...document.querySelectorAll('.legend .swatch')].map((one) => getComputedStyle(one).backgroundColor)`
      )
      assert.equal(new Set(swatches).size, 2)
      const marked = await page.evaluate<readonly string[]>(
        `[...document.querySelectorAll('.menu a, .segments button')]
        .filter((one) => getComputedStyle(one).outlineStyle === 'solid').map((one) => one.textContent)`
      )
      assert.deepEqual(marked, ['Performance', 'Day'])
      assert.deepEqual(await findBarriers(page), [])
    })

    it('on a phone the first figure stands in the first 160 lines, and everything else is a press away', async (t) => {
      const { page } = await start(t, performance, 'phone')
      const box =
        (await page.locator('.tile .value:visible').first().boundingBox()) ?? assert.fail()
      assert.ok(box.y <= 160, `at ${box.y}`)
      const bar = (await page.locator('header.side').boundingBox()) ?? assert.fail()
      assert.ok(bar.height <= 48, `${bar.height} high`)

      assert.equal(await page.locator('.tile:visible').count(), 4)
      await page.getByRole('button', { name: 'More totals' }).click()
      assert.equal(await page.locator('.tile:visible').count(), 8)
      await page.getByRole('button', { name: 'More', exact: true }).click()
      await page.locator('.choices select').first().waitFor()
      await page.getByRole('button', { name: 'Menu' }).click()
      await page.getByRole('link', { name: 'Purchases' }).click()
      // It closes as the page changes.
      await page.getByRole('navigation', { name: 'Pages' }).waitFor({ state: 'hidden' })
    })

    it('on a phone a period is chosen in a popup that fits, and fingers find what they press', async (t) => {
      const { page } = await start(t, performance, 'phone')
      await page.locator('.period-choice summary').click()
      const popup = (await page.locator('.period-choice .popup').boundingBox()) ?? assert.fail()
      assert.ok(popup.x >= 0 && popup.x + popup.width <= 390)
      await assertFits(page, 'the popup')
      assert.deepEqual(await findBarriers(page), [])
      const small = await page.evaluate<readonly string[]>(
        `[...document.querySelectorAll('main button, main select, main input, main summary')]
        .filter((one) => one.checkVisibility() && one.closest('.tiles') === null)
        .filter((one) => Math.min(one.getBoundingClientRect().width, one.getBoundingClientRect().height) < 24)
        .map((one) => one.outerHTML.slice(0, 120))`
      )
      assert.deepEqual(small, [])
    })
  }
)
