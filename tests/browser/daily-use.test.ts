// What people meet who use the dashboard every day.
import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { noBrowser, open, settled, until } from './browser.ts'
import { assertFits, rangeOf } from './read-page.ts'
import { Stage } from './stage.ts'

const performance = '#/advertisers/1/performance'

describe('the dashboard in daily use', { skip: noBrowser, timeout: 900_000 }, () => {
  const stage = new Stage({ shoppers: 60, days: 10, adsPerDay: 900 })

  async function start(t: TestContext, key: string, address: string) {
    return await stage.enter(t, { key, address })
  }

  async function keyUntil(days: number): Promise<string> {
    const expiresAt = new Date(Date.now() + days * 86_400_000).toISOString()
    const response = await fetch(`${stage.showcase.url}/admin/v1/keys`, {
      method: 'POST',
      headers: { authorization: `Bearer ${stage.showcase.adminKey}` },
      body: JSON.stringify({
        name: 'ends',
        advertisers: [1],
        scopes: ['report:read'],
        expiresAt,
      }),
    })
    return ((await response.json()) as { key: string }).key
  }

  it('says what an ad is credited for in words, in the list and in the explanation', async (t) => {
    const { page } = await start(t, stage.showcase.advertiserKey, '#/advertisers/1/purchases')
    const rules = await page.locator('td[data-column=RULE]').allInnerTexts()

    assert.ok(rules.length > 0)
    const words = new Set(['Click on the product', 'Click on its group', 'View', 'several'])
    assert.deepEqual(
      rules.filter((rule) => !words.has(rule)),
      []
    )
    await page.locator('th[data-column=TRANSACTION_ID] a').first().click()
    await settled(page)
    await page.locator('section.story summary').first().click()
    await page
      .getByText(/Click on the product, |Click on its group, |View, /u)
      .first()
      .waitFor()
    assert.equal(await page.getByText('1 units').count(), 0)
  })

  it('keeps the days, the profile and the currency when another advertiser is chosen', async (t) => {
    const { page } = await start(t, stage.showcase.adminKey, performance)
    const { endDate } = await rangeOf(page)
    await open(page, `${performance}?from=${endDate}&to=${endDate}&profile=CLK_14_DAYS&title=x`)
    await page.getByRole('combobox', { name: 'Advertiser' }).fill('Tarnwick')
    await page.getByRole('option', { name: 'Tarnwick Home' }).click()
    await settled(page)

    const { hash } = new URL(page.url())
    assert.equal(
      hash,
      `#/advertisers/2/performance?from=${endDate}&to=${endDate}&profile=CLK_14_DAYS`
    )
  })

  it('says so when the address names days that cannot be shown, and shows the last 28', async (t) => {
    const { page } = await start(t, stage.showcase.advertiserKey, performance)
    for (const days of [
      'from=2020-01-01&to=2026-01-01',
      'from=2026-02-30&to=2026-03-01',
      'from=x',
    ]) {
      await open(page, `${performance}?${days}`)
      await page.getByText('The address names days that cannot be shown').waitFor()
    }
    await open(page, performance)
    assert.equal(await page.getByText('days that cannot be shown').count(), 0)
  })

  it('keeps headings and names in place in a table that is scrolled, and tells the whole text of a cell that is cut', async (t) => {
    const { page } = await start(
      t,
      stage.showcase.advertiserKey,
      `${performance}?size=100&group=rows`
    )
    const frame = page.locator('.table-frame').last()
    const cornerOf = async () => await frame.locator('thead th').first().boundingBox()
    const cornerBefore = await cornerOf()
    const scrolled = await page.evaluate<number>(`(() => {
      const frame = [...document.querySelectorAll('.table-frame')].at(-1)
      frame.scrollTo(200, 600)
      return frame.scrollTop
    })()`)
    const corner = await cornerOf()
    assert.ok(scrolled > 0 && cornerBefore !== null && corner !== null)
    assert.ok(Math.abs(corner.x - cornerBefore.x) < 2 && Math.abs(corner.y - cornerBefore.y) < 2)

    await page.evaluate(`for (const cell of document.querySelectorAll('.table-frame tr > :first-child')) {
      cell.style.maxWidth = '60px'
    }`)
    const cut = frame.locator('tbody th').last()
    await cut.hover()
    assert.equal(await cut.getAttribute('title'), await cut.innerText())
  })

  it('takes a purchase that nobody knows for an answer, not for a failure', async (t) => {
    const { page } = await start(
      t,
      stage.showcase.adminKey,
      '#/operator/lookup/10/no-such-purchase'
    )
    await page.locator('.notice.empty').waitFor()
    assert.equal(await page.getByRole('alert').count(), 0)
  })

  it('closes the choice of columns on Escape and on leaving it', async (t) => {
    const { page } = await start(t, stage.showcase.advertiserKey, performance)
    const picker = page.locator('details.picker', { hasText: 'Columns' })
    await picker.locator('summary').click()
    await picker.getByLabel('Loads').focus()
    await page.keyboard.press('Escape')
    assert.equal(await picker.getAttribute('open'), null)

    await picker.locator('summary').click()
    await page.getByLabel('Filter by').focus()
    assert.equal(await picker.getAttribute('open'), null)
  })

  it('goes back to the question before, not to each column and line that was ticked on the way', async (t) => {
    const { page } = await start(t, stage.showcase.advertiserKey, '#/advertisers/1/placements')
    await open(page, `${performance}?period=last-7`)
    const steps = await page.evaluate('history.length')
    await page.getByText('Columns', { exact: true }).click()
    for (const name of ['Loads', 'Conversions']) {
      await page.locator('details.picker').getByLabel(name, { exact: true }).click()
    }
    await page.keyboard.press('Escape')
    await page.locator('.tiles').getByRole('button', { name: 'Clicks' }).click()
    await page.getByLabel('Compare attribution profiles').check()
    await settled(page)

    const shown = new URLSearchParams(page.url().split('?')[1])
    const columns = shown.get('columns')?.split(',')
    assert.ok(columns?.includes('LOADS') && columns.includes('CONVERSIONS'))
    assert.equal(shown.get('compare'), 'profiles')
    assert.equal(await page.evaluate('history.length'), steps)
    await page.goBack()
    await until(page, `location.hash === '#/advertisers/1/placements'`)
  })

  for (const size of ['phone', 'desktop'] as const) {
    it(`a name of any length stays within the menu and can be read whole, at ${size} width`, async (t) => {
      const name = `Vereinigte${'Kaffeeröstereien'.repeat(9)}`
      const { page } = await stage.enter(t, {
        key: stage.showcase.advertiserKey,
        address: '#/nowhere',
        size,
      })
      await page.route('**/v2/me', async (route) => {
        const response = await route.fetch()
        const me = (await response.json()) as { advertisers: readonly object[] }
        const advertisers = me.advertisers.map((one) => ({ ...one, name }))
        await route.fulfill({ response, json: { ...me, name, advertisers } })
      })
      await page.reload()
      await open(page, performance)
      if (size === 'phone') await page.getByRole('button', { name: 'Menu' }).click()

      await page.getByRole('heading', { name, exact: true }).waitFor()
      const beyond = await page.evaluate<readonly string[]>(`(() => {
        const side = document.querySelector('header.side')
        const { right } = side.getBoundingClientRect()
        return [side, ...side.querySelectorAll('*')]
          .filter((one) => one.checkVisibility() && !one.matches('.skip'))
          .filter((one) => one.getBoundingClientRect().right > right || one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 0)
          .map((one) => one.outerHTML.slice(0, 80))
      })()`)
      assert.deepEqual(beyond, [])
      await assertFits(page, 'the menu')
    })
  }

  it('asks again by itself once the network is back', async (t) => {
    const { page, context } = await start(t, stage.showcase.advertiserKey, '#/nowhere')
    await context.setOffline(true)
    await page.evaluate(`location.hash = '#/advertisers/1/purchases'`)
    await page.getByText('The service cannot be reached.').waitFor()
    await context.setOffline(false)
    await page.locator('th[data-column=TRANSACTION_ID]').first().waitFor()
  })

  it('says that a service that hangs has not answered, instead of waiting without end', async (t) => {
    const { page } = await start(t, stage.showcase.advertiserKey, '#/nowhere')
    await page.clock.install()
    await page.route('**/account', () => {})
    await page.evaluate(`location.hash = '${performance}'`)
    await page.getByText('Loading the account').waitFor()
    await page.clock.runFor(61_000)
    await page.getByText('The service has not answered within 60 seconds.').waitFor()
  })

  it('tells the reader two weeks before that the key ends', async (t) => {
    const soon = await start(t, await keyUntil(10), performance)
    await soon.page.getByText('Your key ends on').waitFor()
    const later = await start(t, await keyUntil(20), performance)
    assert.equal(await later.page.getByText('Your key ends on').count(), 0)
  })

  it('the bar of a reason is its share of everything that does not count', async (t) => {
    const { page } = await start(t, stage.showcase.adminKey, '#/operator/traffic')
    const meters = await page.evaluate<readonly (readonly [number, number])[]>(
      `[...document.querySelectorAll('meter')].map((meter) => [meter.value, meter.max])`
    )
    const total = meters.reduce((sum, [value]) => sum + value, 0)
    assert.ok(meters.length > 1)
    assert.deepEqual(new Set(meters.map(([, max]) => max)), new Set([total]))
  })

  it('going back shows the figures of before at once, where the page was left, while they are read anew', async (t) => {
    const { page } = await start(t, stage.showcase.advertiserKey, performance)
    await page.evaluate('scrollTo(0, 100)')
    await until(page, 'scrollY === 100')
    const total = await page.locator('[data-total=IMPRESSIONS] .value').innerText()
    await page.getByRole('link', { name: 'Placements' }).click()
    await settled(page)
    assert.equal(await page.evaluate('scrollY'), 0)

    const release: (() => void)[] = []
    const held = new Promise<void>((resolve) => release.push(resolve))
    await page.route(/series\.json$/u, async (route) => {
      await held
      await route.continue()
    })
    await page.goBack()
    await page.locator('.stale [data-total=IMPRESSIONS]').waitFor()
    assert.equal(await page.locator('[data-total=IMPRESSIONS] .value').innerText(), total)
    await until(page, 'scrollY === 100')
    for (const go of release) go()
    await settled(page)
    assert.equal(await page.evaluate('scrollY'), 100)
  })

  it('going back comes to where the page was left, however late that page is drawn', async (t) => {
    const { page } = await start(t, stage.showcase.advertiserKey, performance)
    // So that the page that is left is high enough too.
    await page.evaluate(`document.querySelector('main').style.minHeight = '3000px'`)
    await page.evaluate('scrollTo(0, 100)')
    await until(page, 'scrollY === 100')
    await page.getByRole('link', { name: 'Placements' }).click()
    await settled(page)
    await page.evaluate(`addEventListener('hashchange', (event) => {
      event.stopImmediatePropagation()
      setTimeout(() => dispatchEvent(new HashChangeEvent('hashchange')), 1500)
    }, { capture: true, once: true })`)

    await page.goBack()
    await page.locator('[data-total=IMPRESSIONS]').waitFor()
    await settled(page)
    await until(page, 'scrollY === 100')
  })
})
