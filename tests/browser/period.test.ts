// The days that are shown: chosen by name, moved, compared, and never confused with those of before.
import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import { addDays } from '../../src/domain/day.ts'
import { noBrowser, open, setInstant, settled, signIn, until, visit } from './browser.ts'
import { findBarriers, rangeOf } from './read-page.ts'
import { Stage } from './stage.ts'

const performance = '#/advertisers/1/performance'
// 17:40 of a Saturday in Berlin and 1:40 of Sunday in Tokyo: the markets of the demo are on two days.
const saturday = Date.parse('2026-11-28T16:40:00Z')

/** The last such hour of any day: what is compared must lie within the days that the demo has. */
function lastEvening(): number {
  const dayMs = 86_400_000
  return Math.floor((Date.now() - saturday) / dayMs) * dayMs + saturday
}

describe('the period of the dashboard', { skip: noBrowser, timeout: 900_000 }, () => {
  const stage = new Stage()

  async function start(t: TestContext, timezoneId = 'Europe/Berlin') {
    const visitor = await visit(
      { browser: stage.browser, url: stage.showcase.url, address: '#/nowhere', timezoneId },
      t
    )
    await signIn(visitor.page, stage.showcase.advertiserKey)
    return visitor
  }

  for (const timezoneId of ['Pacific/Honolulu', 'Europe/Berlin', 'Asia/Tokyo']) {
    it(`periods by name are those of the markets for a reader in ${timezoneId}`, async (t) => {
      const { page } = await start(t, timezoneId)
      await setInstant(page, saturday)
      await open(page, performance)
      const shown: string[] = []
      for (const name of ['Last 28 days', 'Yesterday', 'Today', 'Month to date', 'Last month']) {
        await choose(page, name)
        const { startDate, endDate } = await rangeOf(page)
        shown.push(`${name}: ${startDate} ${endDate}`)
      }

      assert.deepEqual(shown, [
        'Last 28 days: 2026-10-31 2026-11-27',
        'Yesterday: 2026-11-27 2026-11-27',
        'Today: 2026-11-28 2026-11-29',
        'Month to date: 2026-11-01 2026-11-27',
        'Last month: 2026-10-01 2026-10-31',
      ])
    })
  }

  it('an address keeps the name of the period, so that a bookmark moves on with the days', async (t) => {
    const { page } = await start(t)
    await setInstant(page, saturday)
    await open(page, performance)
    await choose(page, 'Last 7 days')
    const address = new URL(page.url()).hash
    // The currency that is shown stays as well.
    assert.equal(address, `${performance}?currency=EUR&period=last-7`)
    assert.deepEqual(await rangeOf(page), { startDate: '2026-11-21', endDate: '2026-11-27' })

    await setInstant(page, saturday + 86_400_000)
    await open(page, '#/nowhere')
    await open(page, address)
    assert.deepEqual(await rangeOf(page), { startDate: '2026-11-22', endDate: '2026-11-28' })
    await page.getByRole('link', { name: 'Purchases' }).click()
    await settled(page)
    assert.match(page.url(), /purchases\?currency=EUR&period=last-7$/u)
  })

  it('arrows move the period, and keys choose it while the focus is in its bar', async (t) => {
    const { page } = await start(t)
    await setInstant(page, saturday)
    await open(page, `${performance}?period=last-month`)
    await page.getByRole('button', { name: 'Earlier period' }).click()
    await settled(page)
    assert.deepEqual(await rangeOf(page), { startDate: '2026-09-01', endDate: '2026-09-30' })
    await page.keyboard.press('ArrowRight')
    await settled(page)
    assert.deepEqual(await rangeOf(page), { startDate: '2026-10-01', endDate: '2026-10-31' })

    for (const [key, part] of [
      ['w', 'period=week'],
      ['y', 'period=year'],
      ['x', 'base=none'],
    ] as const) {
      await page.keyboard.press(key)
      await until(page, `location.hash.includes('${part}')`)
    }
    await settled(page)
    const hash = await page.evaluate('location.hash')
    await page.locator('main').focus()
    await page.keyboard.press('d')
    await page.getByLabel('Filter by').focus()
    await page.keyboard.press('ArrowLeft')
    assert.equal(await page.evaluate('location.hash'), hash)
  })

  it('beyond the newest day of the markets there is no later period', async (t) => {
    const { page } = await start(t)
    await open(page, performance)
    const later = page.getByRole('button', { name: 'Later period' })
    const earlier = page.getByRole('button', { name: 'Earlier period' })
    await choose(page, 'Today')
    assert.equal(await later.isEnabled(), false)
    await earlier.click()
    await settled(page)
    assert.equal(await later.isEnabled(), true)
  })

  it('days that are not over are shown where they are asked for, and compared with nothing', async (t) => {
    const { page } = await start(t)
    await open(page, performance)
    const whole = await rangeOf(page)
    await page.locator('.period-choice summary').click()
    await page.getByLabel('Include days that are not over yet').check()
    await settled(page)

    const running = await rangeOf(page)
    assert.ok(running.endDate > whole.endDate)
    const changes = await page.locator('[data-total] .change').allInnerTexts()
    assert.deepEqual(new Set(changes), new Set(['so far']))
    await page.getByText('The period is not over yet: its figures are not compared.').waitFor()
    assert.deepEqual(await findBarriers(page), [])
  })

  it('figures are compared with the days before, with the same weekdays of last year, or with none', async (t) => {
    const { page } = await start(t)
    await setInstant(page, lastEvening())
    await open(page, `${performance}?period=yesterday`)
    await page.getByText('Changes are against').waitFor()
    await page.getByLabel('Compare with').selectOption('the same weekdays last year')
    await page.getByText('There is no full period to compare with: figures begin on').waitFor()
    await page.getByLabel('Compare with').selectOption('nothing')
    await settled(page)
    assert.equal(await page.getByText('Changes are against').count(), 0)
    const changes = await page.locator('[data-total] .change').allInnerTexts()
    assert.deepEqual(changes.filter(Boolean), [])
  })

  it('figures are compared with days that are chosen, beside a period that keeps its name, and never with its own days', async (t) => {
    const { page, complaints } = await start(t)
    await setInstant(page, lastEvening())
    await open(page, `${performance}?period=last-7`)
    const { startDate } = await rangeOf(page)
    await page.getByLabel('Compare with').selectOption('chosen days')
    const [first, last] = [
      page.getByLabel('First day compared'),
      page.getByLabel('Last day compared'),
    ]
    assert.equal(await first.inputValue(), addDays(startDate, -7))
    assert.equal(await last.inputValue(), addDays(startDate, -1))
    await settled(page)
    const before = await page.evaluate<string>('location.hash')

    await last.fill(startDate)
    await page.getByRole('alert').getByText('overlap the period').waitFor()
    await last.fill('2000-01-01')
    await page.getByRole('alert').getByText('a first day that is not after the last').waitFor()
    assert.equal(await page.evaluate<string>('location.hash'), before)
    await last.fill(addDays(startDate, -5))
    await page.getByText('The two are not equally long: 7 and 3 days.').waitFor()
    await settled(page)
    assert.equal(
      await page.evaluate<string>('location.hash'),
      `${performance}?currency=EUR&period=last-7&base=chosen&base-from=${addDays(startDate, -7)}&base-to=${addDays(startDate, -5)}`
    )
    assert.match(await page.locator('[data-total=CLICKS] .change').innerText(), /from \d/u)
    assert.deepEqual(await findBarriers(page), [])

    for (const isOn of [false, true]) {
      await page.getByRole('button', { name: 'Earlier period' }).press('x')
      await until(page, `location.hash.includes('base=${isOn ? 'chosen' : 'none'}')`)
    }
    await open(page, `${performance}?period=last-7&base=chosen&base-from=2026-01-02&base-to=x`)
    await page.getByRole('alert').waitFor()
    assert.deepEqual(complaints, [])
  })

  it('figures of other days never stand below the heading of new ones', async (t) => {
    const { page } = await start(t)
    await open(page, performance)
    const release: (() => void)[] = []
    const held = new Promise<void>((resolve) => release.push(resolve))
    await page.route(/reports\/spa\/(series|groups)\.json$/u, async (route) => {
      await held
      await route.continue()
    })
    await page.evaluate(`location.hash = '${performance}?period=last-7'`)
    await page.getByText('Loading the figures').waitFor({ state: 'attached' })
    assert.equal(await page.locator('[data-total]').count(), 0)
    assert.equal(await page.locator('td data').count(), 0)
    for (const go of release) go()
    await page.locator('[data-total=IMPRESSIONS]').waitFor()
  })

  it('totals do not wait for what they are compared with', async (t) => {
    const { page } = await start(t)
    const evening = lastEvening()
    await setInstant(page, evening)
    const yesterday = addDays(new Date(evening).toISOString().slice(0, 10), -1)
    const release: (() => void)[] = []
    const held = new Promise<void>((resolve) => release.push(resolve))
    await page.route(/series\.json$/u, async (route) => {
      const { endDate } = route.request().postDataJSON() as { readonly endDate: string }
      if (endDate !== yesterday) await held
      await route.continue()
    })
    await page.evaluate(`location.hash = '${performance}?period=yesterday'`)
    await page.locator('[data-total=IMPRESSIONS] .change.loading').waitFor()
    for (const go of release) go()
    await settled(page)
    assert.equal(await page.locator('.change.loading').count(), 0)
  })
})

async function choose(page: Page, name: string) {
  if (!(await page.locator('.period-choice[open]').count())) {
    await page.locator('.period-choice summary').click()
  }
  await page.locator('.period-choice').getByRole('button', { name, exact: true }).click()
  await settled(page)
}
