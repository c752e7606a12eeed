// Readers whose browser, clock or question is not what most have.
import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type { Page, Route } from 'playwright-core'
import type { AdvertiserAccount } from '../../src/contract/me.ts'
import { addDays, dayOf } from '../../src/domain/day.ts'
import { noBrowser, open, settled, signIn, until, visit } from './browser.ts'
import { recordDrawnTexts } from './drawn-texts.ts'
import { findBarriers, rangeOf } from './read-page.ts'
import { Stage } from './stage.ts'

describe('the dashboard for all sorts of readers', { skip: noBrowser, timeout: 900_000 }, () => {
  const stage = new Stage({ shoppers: 20, days: 5, adsPerDay: 200 })

  async function start(t: TestContext, key: string) {
    return await stage.enter(t, { key })
  }

  it('a browser that blocks site data shows the figures all the same, for as long as the page lives', async (t) => {
    const context = await stage.browser.newContext({ locale: 'en-GB' })
    t.after(async () => await context.close())
    const page = await context.newPage()
    const complaints: string[] = []
    page.on('pageerror', (error) => complaints.push(error.message))
    await page.addInitScript(() => {
      for (const name of ['localStorage', 'sessionStorage']) {
        Object.defineProperty(globalThis, name, {
          get() {
            throw new DOMException('Access is denied for this document.', 'SecurityError')
          },
        })
      }
      Object.defineProperty(globalThis, 'BroadcastChannel', {
        value: function () {
          throw new DOMException('The operation is insecure.', 'SecurityError')
        },
      })
    })
    await page.goto(stage.showcase.url)

    await signIn(page, stage.showcase.advertiserKey)
    await settled(page)
    await page.getByLabel('Colours').selectOption('dark')
    await open(page, '#/advertisers/1/purchases')

    assert.equal(await page.evaluate('document.documentElement.dataset.theme'), 'dark')
    assert.deepEqual(complaints, [])
    await page.reload()
    await page.getByRole('heading', { name: 'Sign in to Shelftrace' }).waitFor()
  })

  it('the link of the demo opens the dashboard signed in, once, and stays in no address', async (t) => {
    const { page } = await visit(
      { browser: stage.browser, url: stage.showcase.url, address: stage.showcase.signInAddress },
      t
    )
    await page.getByRole('navigation', { name: 'Pages' }).waitFor()
    await settled(page)

    assert.match(page.url(), /#\/advertisers\/1\/performance/u)
    const code = stage.showcase.signInAddress.split('/').at(-1) ?? ''
    await page.goBack().catch(() => null)
    assert.ok(!page.url().includes(code))

    const again = await visit(
      { browser: stage.browser, url: stage.showcase.url, address: stage.showcase.signInAddress },
      t
    )
    await again.page.getByText('This link is not valid any more').waitFor()
    await again.page.getByRole('button', { name: 'Sign in with a key' }).click()
    await again.page.getByRole('heading', { name: 'Sign in to Shelftrace' }).waitFor()
  })

  it('who is invited accepts by a click, sees the key once, and stays signed in where that is wanted', async (t) => {
    const operator = await start(t, stage.showcase.adminKey)
    await open(operator.page, '#/operator/keys')
    await operator.page.getByText('Make a key, or invite a person').click()
    await operator.page.getByLabel('Name: who holds it').fill('Anna')
    await operator.page.getByLabel('Advertisers: all, or ids').fill('1')
    await operator.page.getByLabel('read reports').check()
    await operator.page.getByRole('button', { name: 'Invite by a link' }).click()
    const link = await operator.page.locator('.made code').innerText()
    assert.ok(link.startsWith(`${stage.showcase.url}/#/invitation/`), link)
    await operator.page.getByText('Invited', { exact: true }).waitFor()

    const address = link.slice(stage.showcase.url.length + 1)
    const { page, context } = await visit(
      { browser: stage.browser, url: stage.showcase.url, address },
      t
    )
    assert.deepEqual(await findBarriers(page), [])
    await page.getByRole('button', { name: 'Accept the invitation' }).click()
    const key = await page.locator('main code').innerText()
    assert.match(key, /^st_/u)
    assert.deepEqual(await findBarriers(page), [])
    await page.getByLabel('Keep me signed in').check()
    await page.getByRole('button', { name: 'Open the dashboard' }).click()
    await settled(page)

    const other = await context.newPage()
    await other.goto(stage.showcase.url)
    await other.getByRole('navigation', { name: 'Pages' }).waitFor()
    await other.getByRole('button', { name: 'Sign out' }).click()
    await other.getByRole('heading', { name: 'Sign in to Shelftrace' }).waitFor()
    assert.equal(await other.evaluate('sessionStorage.length + localStorage.length'), 0)
  })

  it('a link opens in a new tab without signing in again, nothing is stored for that, and signing out ends both tabs', async (t) => {
    const { page, context } = await start(t, stage.showcase.advertiserKey)
    const other = await context.newPage()
    await other.goto(`${stage.showcase.url}/#/advertisers/1/placements`)
    await settled(other)
    assert.match(other.url(), /placements/u)
    assert.equal(await other.evaluate('localStorage.length'), 0)

    await page.close()
    const third = await context.newPage()
    await third.goto(stage.showcase.url)
    await settled(third)
    await third.getByRole('button', { name: 'Sign out' }).click()
    await other.getByText('You have signed out in another tab').waitFor()
    for (const one of [other, third]) {
      await one.getByRole('heading', { name: 'Sign in to Shelftrace' }).waitFor()
      assert.equal(await one.evaluate('sessionStorage.length + localStorage.length'), 0)
    }
    await third.reload()
    await third.getByRole('heading', { name: 'Sign in to Shelftrace' }).waitFor()
  })

  it('a tab at the page for signing in takes no key that another tab asked for', async (t) => {
    const { page: waiting, context } = await visit(
      { browser: stage.browser, url: stage.showcase.url },
      t
    )
    const page = await context.newPage()
    await page.goto(stage.showcase.url)
    await signIn(page, stage.showcase.advertiserKey)
    const other = await context.newPage()
    await other.goto(stage.showcase.url)
    await settled(other)

    await waiting.getByRole('heading', { name: 'Sign in to Shelftrace' }).waitFor()
    assert.equal(await waiting.evaluate('sessionStorage.length'), 0)
  })

  it('who is kept signed in is asked again after 30 days', async (t) => {
    const { page, context } = await visit({ browser: stage.browser, url: stage.showcase.url }, t)
    await page.getByLabel('Keep me signed in').check()
    await signIn(page, stage.showcase.advertiserKey)
    await settled(page)
    const later = await context.newPage()
    await later.clock.setFixedTime(Date.now() + 30 * 86_400_000 + 1_000)
    await later.goto(stage.showcase.url)
    await later.getByRole('heading', { name: 'Sign in to Shelftrace' }).waitFor()
    assert.equal(await later.evaluate('localStorage.length'), 0)
  })

  it('a key that is kept for 30 days stays when another tab, whose key is another one, signs in, signs out or has its key refused', async (t) => {
    const { page, context } = await visit({ browser: stage.browser, url: stage.showcase.url }, t)
    const kept = await context.newPage()
    await kept.goto(stage.showcase.url)
    await kept.getByLabel('Keep me signed in').check()
    await signIn(kept, stage.showcase.advertiserKey)
    const staysSignedIn = async () => {
      await kept.reload()
      await kept.getByRole('navigation', { name: 'Pages' }).waitFor()
    }

    await signIn(page, stage.showcase.adminKey)
    await staysSignedIn()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in to Shelftrace' }).waitFor()
    await staysSignedIn()
    await signIn(page, stage.showcase.adminKey)
    await page.route('**/admin/v1/**', async (route) => {
      await route.fulfill({ status: 401, json: { messages: ['It is revoked.'] } })
    })
    await page.evaluate(`location.hash = '#/operator/keys'`)
    await page.getByText('The key is not valid').waitFor()
    await staysSignedIn()

    // Its own key ends it.
    await kept.getByRole('button', { name: 'Sign out' }).click()
    await kept.getByRole('heading', { name: 'Sign in to Shelftrace' }).waitFor()
    assert.equal(await kept.evaluate('localStorage.length'), 0)
  })

  it('a chart of one day or of a week names each of its days once, and no other', async (t) => {
    const { page, context } = await start(t, stage.showcase.advertiserKey)
    await context.addInitScript({ content: recordDrawnTexts })
    // The newest day of the markets may have begun a moment ago, without any figure.
    const endDate = dayBefore(1)
    for (const from of [endDate, dayBefore(7)]) {
      await page.goto('about:blank')
      await page.goto(
        `${stage.showcase.url}/#/advertisers/1/performance?from=${from}&to=${endDate}`
      )
      await settled(page)
      await until(page, `drawn.some((text) => / at /u.test(text) && /[A-Z]/u.test(text))`)
      // A chart may be drawn again, with the same names at the same places.
      const places = new Set(await page.evaluate<readonly string[]>('drawn'))
      const days = [...places].flatMap(
        (place) => / ?(\d+ [A-Z][a-z]{2,3}) at /u.exec(place)?.[1] ?? []
      )
      assert.equal(
        days.length > 0 && days.length <= (from === endDate ? 1 : 7),
        true,
        days.join(', ')
      )
      assert.equal(new Set(days).size, days.length, days.join(', '))
    }
  })

  it('behind the last page that the interface has there is no next one, and a sentence says so', async (t) => {
    const { page } = await start(t, stage.showcase.advertiserKey)
    // As if there were more rows than pages.
    await page.route(/reports\/spa\/groups\.json$/u, async (route) => {
      const asked = route.request().postDataJSON() as { page?: number }
      const answer = await route.fetch({
        postData: JSON.stringify({ ...asked, ...('page' in asked && { page: 0 }) }),
      })
      const body = (await answer.json()) as object
      await route.fulfill({ response: answer, json: { ...body, totalRows: 10_020 } })
    })
    await open(page, '#/advertisers/1/performance?size=10&page=1000')

    const pager = page.getByRole('navigation', { name: 'Pages of the table' })
    await pager.getByText('10,001–10,010 of 10,020 rows').waitFor()
    assert.equal(await pager.getByRole('button', { name: 'Next' }).isEnabled(), false)
    await pager.getByText('There are no pages behind this one').waitFor()
    assert.equal(await pager.getByRole('button', { name: 'Previous' }).isEnabled(), true)
  })

  it('the running days are shown in the currency of the page, whichever has the most impressions today', async (t) => {
    const { page } = await stage.enter(t, {
      key: stage.showcase.advertiserKey,
      address: '#/nowhere',
    })
    await routeRunningDays(page, async (route, asked) => {
      // Of days that have events, with other currencies before that of the page.
      const [startDate, endDate] = [-8, -2].map((days) => addDays(asked['endDate'] ?? '', days))
      const response = await route.fetch({
        postData: JSON.stringify({ ...asked, startDate, endDate }),
      })
      const answer = (await response.json()) as { totals: Record<string, string>[] }
      const totals = answer.totals.map((row) =>
        row['CURRENCY'] === 'EUR' ? row : { ...row, IMPRESSIONS: '1000000' }
      )
      await route.fulfill({ response, json: { ...answer, totals } })
    })
    await open(page, '#/advertisers/1/performance')

    const spend = page.locator('[data-so-far=AD_SPEND_REVENUE] dd')
    assert.match(await page.locator('[data-total=AD_SPEND_REVENUE] .value').innerText(), /€/u)
    assert.match(await spend.innerText(), /€/u)
  })

  it('the running days stand beside the page before any event in its currency, with zeros', async (t) => {
    const { page } = await stage.enter(t, {
      key: stage.showcase.advertiserKey,
      address: '#/nowhere',
    })
    await routeRunningDays(page, async (route) => {
      const response = await route.fetch()
      const answer = (await response.json()) as { totals: readonly Record<string, string>[] }
      const yen = { ...answer.totals[0], CURRENCY: 'JPY', IMPRESSIONS: '4' }
      await route.fulfill({ response, json: { ...answer, totals: [yen] } })
    })
    await open(page, '#/advertisers/1/performance')

    const valueOf = (name: string) => page.locator(`[data-so-far=${name}] dd`).innerText()
    assert.equal(await valueOf('IMPRESSIONS'), '0')
    assert.equal(await valueOf('AD_SPEND_REVENUE'), '€0.00')
  })

  for (const timezoneId of ['Pacific/Honolulu', 'Pacific/Kiritimati']) {
    it(`the period that opens by itself ends with the last whole day of the markets, and the running days stand beside it, for a reader in ${timezoneId}`, async (t) => {
      const context = await stage.browser.newContext({ locale: 'en-GB', timezoneId })
      t.after(async () => await context.close())
      const page = await context.newPage()
      await page.goto(stage.showcase.url)
      await signIn(page, stage.showcase.advertiserKey)
      await settled(page)

      const { endDate } = await rangeOf(page)
      const account = await fetch(`${stage.showcase.url}/v2/advertisers/1/account`, {
        headers: { authorization: `Bearer ${stage.showcase.advertiserKey}` },
      })
      const { markets, publishers } = (await account.json()) as AdvertiserAccount
      const own = new Set(publishers.flatMap(({ marketIds }) => marketIds))
      const days = markets
        .filter(({ id }) => own.has(id))
        .map(({ timeZone }) => dayOf(Date.now(), timeZone))
      const [first = '', last = ''] = [days.toSorted()[0], days.toSorted().at(-1)]
      assert.equal(endDate, addDays(first, -1))
      const soFar = page.getByRole('region', { name: 'Not over yet' })
      const shown = await soFar.locator('[data-so-far=IMPRESSIONS] data').getAttribute('value')
      const series = await fetch(`${stage.showcase.url}/v2/advertisers/1/reports/spa/series.json`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${stage.showcase.advertiserKey}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify({
          startDate: first,
          endDate: last,
          attributionProfile: 'IMP_1_DAY_CLK_14_DAYS',
        }),
      })
      const { totals } = (await series.json()) as { totals: readonly Record<string, string>[] }
      const spend = await soFar.locator('[data-so-far=AD_SPEND_REVENUE] dd').innerText()
      assert.match(spend, /€/u)
      // Early in the day there may be none in euros yet.
      const inEuros = totals.find((total) => total['CURRENCY'] === 'EUR')
      assert.equal(shown, inEuros?.['IMPRESSIONS'] ?? '0')
      await soFar.getByRole('link', { name: 'Include these days' }).click()
      await settled(page)
      assert.equal((await rangeOf(page)).endDate, last)
    })
  }
})

/** Answers for the days that are not over; the days of the page are more. */
async function routeRunningDays(
  page: Page,
  answer: (route: Route, asked: Readonly<Record<string, string>>) => Promise<void>
): Promise<void> {
  await page.route(/series\.json$/u, async (route) => {
    const asked = route.request().postDataJSON() as Record<string, string>
    const isRunning = addDays(asked['startDate'] ?? '', 3) >= (asked['endDate'] ?? '')
    await (isRunning ? answer(route, asked) : route.continue())
  })
}

function dayBefore(count: number): string {
  return new Date(Date.now() - count * 86_400_000).toISOString().slice(0, 10)
}
