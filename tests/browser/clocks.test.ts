// Computers whose clock is wrong, and pages that stay open while the days go on.
import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import { noBrowser, open, setInstant, settled, signIn, until, visit } from './browser.ts'
import { rangeOf } from './read-page.ts'
import { Stage } from './stage.ts'

const performance = '#/advertisers/1/performance'
const dayMs = 86_400_000
const hourMs = 3_600_000
// 17:40 of a Saturday in Berlin and 1:40 of Sunday in Tokyo: the markets of the demo are on two days.
const saturday = Date.parse('2026-11-28T16:40:00Z')

async function readRanges(page: Page, addresses: readonly string[]) {
  const ranges = []
  for (const address of addresses) {
    await open(page, address)
    ranges.push(await rangeOf(page))
  }
  return ranges
}

async function showAgain(page: Page, atMs: number) {
  await page.clock.setFixedTime(atMs)
  await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`)
  await page.evaluate(`window.dispatchEvent(new Event('focus'))`)
}

describe('the days of the dashboard', { skip: noBrowser, timeout: 600_000 }, () => {
  const stage = new Stage()

  async function enterAt(t: TestContext, key: string, daysOff: number) {
    const { browser, showcase } = stage
    const visitor = await visit({ browser, url: showcase.url, address: '#/nowhere' }, t)
    if (daysOff !== 0) await visitor.page.clock.setFixedTime(Date.now() + daysOff * dayMs)
    await signIn(visitor.page, key)
    return visitor
  }

  for (const daysOff of [400, -3]) {
    it(`are those of the service on a computer whose clock is ${daysOff} days off`, async (t) => {
      const pages = [`${performance}?period=today`, `${performance}?period=month`, performance]
      const key = stage.showcase.advertiserKey
      const right = (await enterAt(t, key, 0)).page
      const { page, complaints } = await enterAt(t, key, daysOff)

      const before = await readRanges(right, pages)
      const shown = await readRanges(page, pages)
      const after = await readRanges(right, pages)

      // A day of a market may have begun in between.
      assert.ok(
        [before, after].some((ranges) => JSON.stringify(ranges) === JSON.stringify(shown)),
        JSON.stringify({ shown, before, after })
      )
      assert.equal(await page.getByText('Nothing was counted').count(), 0)
      assert.deepEqual(complaints, [])
    })
  }

  it('are those of the service in the overview of a key for several advertisers as well', async (t) => {
    const key = stage.showcase.adminKey
    const right = (await enterAt(t, key, 0)).page
    const { page } = await enterAt(t, key, 400)

    const before = await readRanges(right, ['#/overview'])
    const shown = await readRanges(page, ['#/overview'])

    const after = await readRanges(right, ['#/overview'])
    assert.ok(
      [before, after].some((ranges) => JSON.stringify(ranges) === JSON.stringify(shown)),
      JSON.stringify({ shown, before, after })
    )
  })

  async function startOnSaturday(t: TestContext) {
    const visitor = await enterAt(t, stage.showcase.advertiserKey, 0)
    await setInstant(visitor.page, saturday)
    return visitor
  }

  it('go on in a page that was left open over night, as soon as it is shown again, with figures that are asked anew', async (t) => {
    const { page, complaints } = await startOnSaturday(t)
    await open(page, `${performance}?period=today`)
    assert.deepEqual(await rangeOf(page), { startDate: '2026-11-28', endDate: '2026-11-29' })
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.postData() ?? ''))

    await showAgain(page, saturday + 26 * hourMs)

    await until(page, `document.querySelector('input[type=date]').value === '2026-11-29'`)
    await settled(page)
    assert.deepEqual(await rangeOf(page), { startDate: '2026-11-29', endDate: '2026-11-30' })
    assert.ok(
      asked.some((body) => body.includes('"startDate":"2026-11-29"')),
      asked.join(' ')
    )
    assert.match(page.url(), /period=today$/u)
    assert.deepEqual(complaints, [])
  })

  it('that were chosen one by one stay, and nothing is asked again on the same day', async (t) => {
    const { page } = await startOnSaturday(t)
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    await open(page, `${performance}?period=today`)
    const count = asked.length
    await showAgain(page, saturday + 2 * hourMs)
    await settled(page)
    assert.equal(asked.length, count)

    await open(page, `${performance}?from=2026-11-20&to=2026-11-25`)
    await showAgain(page, saturday + 26 * hourMs)
    await settled(page)
    assert.deepEqual(await rangeOf(page), { startDate: '2026-11-20', endDate: '2026-11-25' })
  })
})
