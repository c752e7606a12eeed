// The days of a period chosen from a calendar: by mouse, finger and keys, in the reader's language and way of weeks.
import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import { noBrowser, open, setInstant, settled, until, type Visit } from './browser.ts'
import { assertFits, findBarriers, rangeOf } from './read-page.ts'
import { Stage } from './stage.ts'

const performance = '#/advertisers/1/performance'
const october = `${performance}?from=2026-10-05&to=2026-11-20`
// 17:40 of a Saturday in Berlin and 1:40 of Sunday, the 29th, in Tokyo.
const saturday = Date.parse('2026-11-28T16:40:00Z')

describe('the calendar of the period', { skip: noBrowser, timeout: 900_000 }, () => {
  const stage = new Stage()

  async function start(
    t: TestContext,
    asked: Pick<Visit, 'size' | 'locale' | 'timezoneId'> = {},
    address = october
  ) {
    const visitor = await stage.enter(t, {
      key: stage.showcase.advertiserKey,
      address: '#/nowhere',
      ...asked,
    })
    await setInstant(visitor.page, saturday)
    await open(visitor.page, address)
    await openCalendar(visitor.page)
    return visitor
  }

  it('takes the first and the last day by mouse, in any order, and the address keeps them', async (t) => {
    const { page, complaints } = await start(t)
    assert.deepEqual(await monthsOf(page), ['October 2026', 'November 2026'])
    assert.deepEqual(await chosenOf(page), ['2026-10-05', '2026-11-20'])

    await day(page, '2026-11-12').click()
    await page.getByText('From 12 Nov 2026: choose the last day.').waitFor()
    assert.match(page.url(), /from=2026-10-05&to=2026-11-20$/u)
    await day(page, '2026-10-28').click()
    await settled(page)

    assert.match(page.url(), /from=2026-10-28&to=2026-11-12$/u)
    assert.deepEqual(await rangeOf(page), { startDate: '2026-10-28', endDate: '2026-11-12' })
    assert.equal(await page.locator('.calendar [data-in-range]').count(), 16)
    assert.deepEqual(complaints, [])
  })

  it('goes back and forward with the address, also from a period that is half chosen', async (t) => {
    const { page } = await start(t)
    await day(page, '2026-11-02').click()
    await day(page, '2026-11-03').click()
    await settled(page)
    await day(page, '2026-11-10').click()
    await page.goBack()
    await until(page, `location.hash.includes('to=2026-11-20')`)
    await settled(page)
    await openCalendar(page)
    assert.deepEqual(await chosenOf(page), ['2026-10-05', '2026-11-20'])
    await page.goForward()
    await until(page, `location.hash.includes('to=2026-11-03')`)
    await settled(page)
    await openCalendar(page)
    assert.deepEqual(await chosenOf(page), ['2026-11-02', '2026-11-03'])
  })

  it('is used by keys alone, and leaves those of the bar to the bar', async (t) => {
    const { page, complaints } = await start(t)
    await page.getByLabel('To', { exact: true }).focus()
    await tabTo(page, '2026-10-05')
    for (const [key, reached] of [
      ['ArrowDown', '2026-10-12'],
      ['ArrowRight', '2026-10-13'],
      ['ArrowLeft', '2026-10-12'],
      ['ArrowUp', '2026-10-05'],
      ['PageDown', '2026-11-05'],
      ['PageUp', '2026-10-05'],
      ['Shift+PageUp', '2025-10-05'],
      ['Shift+PageDown', '2026-10-05'],
    ] as const) {
      await page.keyboard.press(key)
      await focusOn(page, reached)
    }
    assert.match(page.url(), /from=2026-10-05&to=2026-11-20$/u)

    await page.keyboard.press('Enter')
    await page.getByText('From 5 Oct 2026: choose the last day.').waitFor()
    await page.keyboard.press('ArrowDown')
    await focusOn(page, '2026-10-13')
    await page.keyboard.press('Space')
    await until(page, `location.hash.endsWith('from=2026-10-05&to=2026-10-13')`)
    await settled(page)

    await page.keyboard.press('Escape')
    assert.equal(await page.locator('.period-choice[open]').count(), 0)
    await until(page, `document.activeElement.tagName === 'SUMMARY'`)
    assert.deepEqual(complaints, [])
  })

  it('mutes days without figures, and offers none after the newest day of the markets', async (t) => {
    const { page } = await start(t, {}, `${performance}?period=today`)
    assert.deepEqual(await monthsOf(page), ['October 2026', 'November 2026'])
    const later = page.getByRole('button', { name: 'Later months' })
    assert.equal(await later.isEnabled(), false)
    assert.equal(await day(page, '2026-11-29').getAttribute('aria-disabled'), null)
    const tomorrow = day(page, '2026-11-30')
    assert.equal(await tomorrow.getAttribute('aria-disabled'), 'true')
    assert.match((await tomorrow.getAttribute('aria-label')) ?? '', /2026, no figures$/u)
    await tomorrow.click({ force: true })
    assert.match(page.url(), /period=today$/u)

    // The demo begins three weeks ago, so that days of a year before have no figures; they can be chosen.
    await open(page, `${performance}?from=2025-10-01&to=2025-10-02`)
    await openCalendar(page)
    const before = day(page, '2025-10-03')
    await until(page, `document.querySelector('[data-value="2025-10-03"] [data-blank]') !== null`)
    await before.click()
    await before.click()
    await until(page, `location.hash.endsWith('from=2025-10-03&to=2025-10-03')`)
  })

  it('offers at most 731 days and says so, and days can still be typed', async (t) => {
    const { page } = await start(t, {}, `${performance}?from=2024-11-01&to=2024-11-02`)
    await page.getByText('A period has at most 731 days.').waitFor()
    await day(page, '2024-11-01').click()
    await page.getByText('From 1 Nov 2024: choose the last day.').waitFor()
    for (let pages = 0; pages < 12; pages += 1) {
      await page.getByRole('button', { name: 'Later months' }).click()
    }
    assert.deepEqual(await monthsOf(page), ['October 2026', 'November 2026'])
    assert.equal(await day(page, '2026-11-02').getAttribute('aria-disabled'), 'true')
    await day(page, '2026-11-01').click()
    await until(page, `location.hash.endsWith('from=2024-11-01&to=2026-11-01')`)
    await settled(page)

    await page.getByLabel('To', { exact: true }).fill('2026-11-02')
    await page.getByText('and at most 731 days').waitFor()
    await page.getByLabel('From', { exact: true }).fill('2026-11-01')
    await until(page, `location.hash.endsWith('from=2026-11-01&to=2026-11-02')`)
    await settled(page)
    assert.deepEqual(await chosenOf(page), ['2026-11-01', '2026-11-02'])
  })

  for (const { locale, timezoneId, month, weekday, first } of [
    {
      locale: 'en-US',
      timezoneId: 'Pacific/Honolulu',
      month: 'October 2026',
      weekday: 'Sun',
      first: 'Thursday, October 1, 2026',
    },
    {
      locale: 'de-DE',
      timezoneId: 'Asia/Tokyo',
      month: 'Oktober 2026',
      weekday: 'Mo',
      first: 'Donnerstag, 1. Oktober 2026',
    },
    {
      locale: 'ja-JP',
      timezoneId: 'Asia/Tokyo',
      month: 'October 2026',
      weekday: 'Sun',
      first: 'Thursday, October 1, 2026',
    },
  ] as const) {
    it(`speaks to a reader of ${locale} in ${timezoneId}, of the same days`, async (t) => {
      const { page } = await start(t, { locale, timezoneId })
      assert.equal((await monthsOf(page))[0], month)
      const weekdays = await page.locator('.calendar table').first().locator('th').allInnerTexts()
      assert.equal(weekdays[0], weekday)
      const label = (await day(page, '2026-10-01').getAttribute('aria-label')) ?? ''
      assert.equal(label.startsWith(first), true, label)
      assert.deepEqual(await chosenOf(page), ['2026-10-05', '2026-11-20'])
      await day(page, '2026-11-01').click()
      await day(page, '2026-11-30').click({ force: true })
      await day(page, '2026-11-29').click()
      await until(page, `location.hash.endsWith('from=2026-11-01&to=2026-11-29')`)
    })
  }

  it('shows one month on a phone, is taken by finger, and fits', async (t) => {
    const { page, complaints } = await start(t, { size: 'phone' })
    assert.deepEqual(await monthsOf(page), ['October 2026'])
    await assertFits(page, 'the calendar')
    const box = await day(page, '2026-10-14').boundingBox()
    assert.ok(box !== null && box.width >= 24 && box.height >= 24)
    await day(page, '2026-10-14').click()
    await page.getByRole('button', { name: 'Later months' }).click()
    await day(page, '2026-11-03').click()
    await until(page, `location.hash.endsWith('from=2026-10-14&to=2026-11-03')`)
    await settled(page)
    assert.deepEqual(await findBarriers(page), [])
    assert.deepEqual(complaints, [])
  })

  it('is sound for assistive programs, in both schemes, and where the system sets all colours', async (t) => {
    const { page } = await start(t)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      assert.deepEqual(await findBarriers(page), [], colorScheme)
    }
    await day(page, '2026-10-20').click()
    assert.deepEqual(await findBarriers(page), [])
    await day(page, '2026-10-22').click()
    await settled(page)
    await page.emulateMedia({ forcedColors: 'active' })
    const colours = await page.evaluate<readonly string[]>(
      `['2026-10-20', '2026-10-21', '2026-10-25'].map((day) => {
        const { backgroundColor, borderTopColor } = getComputedStyle(document.querySelector('[data-value="' + day + '"] button'))
        return backgroundColor + ' ' + borderTopColor
      })`
    )
    assert.equal(new Set(colours).size, 3, colours.join(', '))
  })

  it('is asked for when the choice is opened, and not with the page', async (t) => {
    const { page } = await stage.enter(t, { key: stage.showcase.advertiserKey })
    const asked = `performance.getEntriesByType('resource').filter(({ name }) => /calendar/.test(name)).length`
    assert.equal(await page.evaluate(asked), 0)
    await openCalendar(page)
    assert.equal(await page.evaluate(asked), 1)
  })
})

async function openCalendar(page: Page) {
  if (!(await page.locator('.period-choice[open]').count())) {
    await page.locator('.period-choice summary').click()
  }
  await page.locator('.calendar table').first().waitFor()
}

function day(page: Page, value: string) {
  return page.locator(`.calendar td[data-value="${value}"] button`)
}

async function monthsOf(page: Page) {
  return await page.locator('.calendar caption').allInnerTexts()
}

async function chosenOf(page: Page) {
  const days = page.locator('.calendar button[data-selected]')
  return await days.evaluateAll((all) => all.map((one) => one.getAttribute('data-value')))
}

async function tabTo(page: Page, value: string) {
  const isThere = `document.activeElement.dataset.value === '${value}'`
  for (let presses = 0; presses < 10; presses += 1) {
    if ((await page.evaluate(isThere)) === true) return
    await page.keyboard.press('Tab')
  }
  assert.fail(`the tab key does not lead to ${value}`)
}

async function focusOn(page: Page, value: string) {
  await until(page, `document.activeElement.dataset.value === '${value}'`)
}
