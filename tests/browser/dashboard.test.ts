// The dashboard in a real browser, before a whole service with the demo's figures and weeks behind them.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, it, type TestContext } from 'node:test'
import { eventually } from '../helpers/service.ts'
import { noBrowser, open, settled, signIn, until, visit, type Size } from './browser.ts'
import { addUp, parseCsv, type CsvRow } from './csv-figures.ts'
import {
  assertFits,
  byText,
  expectDays,
  findBarriers,
  rangeOf,
  readCells,
  readDays,
  readRows,
  readTotals,
} from './read-page.ts'
import { operatorPages } from './operator-pages.ts'
import { Stage } from './stage.ts'

const advertiserPages = [
  '#/advertisers/1/performance?size=10',
  '#/advertisers/1/performance?size=10&compare=profiles',
  '#/advertisers/1/performance?title=no-such-product',
  '#/advertisers/1/products/2940000000007',
  '#/advertisers/1/purchases',
  '#/advertisers/1/purchases/10/no-such-purchase',
  '#/advertisers/1/placements',
  '#/advertisers/1/assets',
  '#/nowhere',
]
const adminPages = [...operatorPages, '#/advertisers/2/performance']

describe('the dashboard in a browser', { skip: noBrowser, timeout: 1_800_000 }, () => {
  const stage = new Stage()

  async function start(t: TestContext, key: string, address = '', size: Size = 'desktop') {
    return await stage.enter(t, { key, size, address })
  }

  async function csv(body: object): Promise<readonly CsvRow[]> {
    const response = await fetch(`${stage.showcase.url}/v2/advertisers/1/reports/spa/product.csv`, {
      method: 'POST',
      headers: { authorization: `Bearer ${stage.showcase.advertiserKey}` },
      body: JSON.stringify(body),
    })
    assert.equal(response.status, 200)
    return parseCsv(await response.text())
  }

  /** Purchases may still be credited while the test looks: figures are compared between two equal readings. */
  async function compare(
    body: object,
    look: () => Promise<unknown>,
    expect: (rows: readonly CsvRow[]) => unknown
  ) {
    await eventually('the page shows what the CSV says', async () => {
      const rowsBefore = await csv(body)
      const shown = await look()
      const rowsAfter = await csv(body)
      assert.deepEqual(rowsAfter, rowsBefore)
      assert.deepEqual(shown, expect(rowsBefore))
      return true
    })
  }

  it('a wrong key is told so and kept nowhere; a right one opens the pages it is for and ends with signing out', async (t) => {
    const { page } = await visit({ browser: stage.browser, url: stage.showcase.url }, t)
    await page.getByLabel('Key', { exact: true }).fill('not-a-key')
    await page.keyboard.press('Enter')
    await page.getByText('The key is not valid').waitFor()
    assert.equal(await page.evaluate('sessionStorage.length + localStorage.length'), 0)

    await signIn(page, stage.showcase.advertiserKey)
    await settled(page)
    assert.match(page.url(), /#\/advertisers\/1\/performance/)
    await page.reload()
    await settled(page)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in to Shelftrace' }).waitFor()

    assert.equal(await page.evaluate('sessionStorage.length + localStorage.length'), 0)
  })

  for (const size of ['phone', 'desktop'] as const) {
    for (const [role, addresses] of [
      ['advertiserKey', advertiserPages],
      ['adminKey', adminPages],
    ] as const) {
      it(`every page of the ${role} at ${size} width is sound for assistive programs, fits, and complains of nothing`, async (t) => {
        const { page, complaints } = await start(t, stage.showcase[role], '#/nowhere', size)
        for (const address of addresses) {
          await open(page, address)
          assert.deepEqual(await findBarriers(page), [], address)
          await assertFits(page, address)
        }
        assert.deepEqual(complaints, [])
      })
    }
  }

  it('dark colours are as readable as light ones', async (t) => {
    const { page } = await visit(
      { browser: stage.browser, url: stage.showcase.url, colorScheme: 'dark' },
      t
    )
    assert.deepEqual(await findBarriers(page), [])
    await signIn(page, stage.showcase.advertiserKey)
    await open(page, '#/advertisers/1/performance?size=10&compare=profiles')

    assert.deepEqual(await findBarriers(page), [])
  })

  it('the totals are the sums of the CSV, to the last digit', async (t) => {
    const { page } = await start(
      t,
      stage.showcase.advertiserKey,
      '#/advertisers/1/performance?size=10'
    )
    const range = await rangeOf(page)
    for (const currency of ['EUR', 'GBP', 'JPY']) {
      const look = async () => {
        await open(page, '#/nowhere')
        await open(page, `#/advertisers/1/performance?size=10&currency=${currency}`)
        const { ORDERS: orders, ...totals } = await readTotals(page)
        // Few buy in Japan, and on some days nobody.
        assert.match(orders ?? '', currency === 'JPY' ? /^\d+$/u : /^[1-9]\d*$/u)
        return totals
      }
      await compare(range, look, (rows) =>
        addUp(rows.filter((row) => row['CURRENCY'] === currency))
      )
    }
  })

  it('the chart holds the sums of the CSV by day, under one profile and under all three', async (t) => {
    const { page } = await start(
      t,
      stage.showcase.advertiserKey,
      '#/advertisers/1/performance?size=10'
    )
    const range = await rangeOf(page)
    const body = { ...range, dateBreakdown: true }
    for (const chart of [
      'IMPRESSIONS,CLICKS',
      'AD_SPEND_REVENUE,CONVERSION_VALUE',
      'RETURN_ON_AD_SPEND,UNITS_SOLD',
    ]) {
      const look = async () => {
        await open(page, '#/nowhere')
        await open(page, `#/advertisers/1/performance?size=10&currency=EUR&chart=${chart}`)
        return await readDays(page)
      }
      await compare(body, look, (rows) => expectDays(rows, range, chart.split(',')))
    }
    for (const profile of ['CLK_14_DAYS', 'IMP_1_DAY', 'IMP_1_DAY_CLK_14_DAYS']) {
      const lookAtProfile = async () => {
        await open(page, '#/nowhere')
        await open(page, '#/advertisers/1/performance?size=10&currency=EUR&compare=profiles')
        return (await readDays(page)).map(([day, values]) => [day, values[profile]])
      }
      await compare({ ...body, attributionProfile: profile }, lookAtProfile, (rows) =>
        expectDays(rows, range, ['CONVERSION_VALUE']).map(([day, values]) => [
          day,
          values['CONVERSION_VALUE'],
        ])
      )
    }
  })

  it('the table shows the rows of the CSV in its order, page by page, and the address alone brings it back', async (t) => {
    const shown = '#/advertisers/1/performance?currency=EUR&size=10&group=rows&market=DE'
    const { page } = await start(t, stage.showcase.advertiserKey, shown)
    const range = await rangeOf(page)
    await page.getByRole('columnheader', { name: 'Clicks' }).getByRole('button').press('Enter')
    await settled(page)
    await page.getByLabel('Filter by').selectOption('title')
    await page.getByRole('searchbox', { name: 'Title contains' }).fill('Kaffee')
    await page.keyboard.press('Enter')
    await until(page, `location.hash.includes('title=Kaffee')`)
    await settled(page)
    await page.getByRole('button', { name: 'Next' }).click()
    await until(page, `location.hash.includes('page=1')`)
    const address = page.url()
    const body = {
      ...range,
      filters: [
        { field: 'PRODUCT_TITLE', values: ['Kaffee'] },
        { field: 'MARKET', values: ['DE'] },
      ],
      orderBy: 'CLICKS',
      sortType: 'DESC',
      page: 1,
      limit: 10,
    }
    const names = ['GTIN', 'CLICKS', 'UNITS_SOLD', 'AD_SPEND_REVENUE', 'CONVERSION_VALUE']
    const look = async () => {
      await page.goto('about:blank')
      await page.goto(address)
      await settled(page)
      return await readRows(page, names)
    }

    await compare(body, look, (rows) => rows.map((row) => names.map((name) => row[name])))
    await page.getByRole('button', { name: 'Remove Title contains: Kaffee' }).waitFor()
  })

  it('the download is the CSV of all pages of what is shown, in the columns shown and their currency, under a name that says what it is', async (t) => {
    const columns = ['PRODUCT_TITLE', 'CAMPAIGN_NAME', 'CLICKS', 'CONVERSION_VALUE']
    const shown = `#/advertisers/1/performance?group=rows&market=DE&size=10&sort=GTIN&order=asc&columns=${columns.join(',')}`
    const { page } = await start(t, stage.showcase.advertiserKey, shown)
    const range = await rangeOf(page)
    const look = async () => {
      const downloading = page.waitForEvent('download')
      await page.getByRole('button', { name: 'Download CSV' }).click()
      const file = await downloading
      assert.equal(
        file.suggestedFilename(),
        `velmora-coffee_rows_EUR_${range.startDate}_${range.endDate}_clicks14-impressions1.csv`
      )
      const path = await file.path()
      return parseCsv(await readFile(path, 'utf8'))
    }
    const body = { ...range, filters: [{ field: 'MARKET', values: ['DE'] }], orderBy: 'GTIN' }

    await compare(body, look, (rows) =>
      rows.map((row) =>
        Object.fromEntries([...columns, 'CURRENCY'].map((name) => [name, row[name]]))
      )
    )

    const downloading = page.waitForEvent('download')
    await page.getByRole('button', { name: 'For Excel' }).click()
    const text = await readFile(await (await downloading).path(), 'utf8')
    assert.ok(text.startsWith('\uFEFFPRODUCT_TITLE,'), text.slice(0, 40))
  })

  it('a product leads from its row to its campaigns, whose sums are those of their ad groups', async (t) => {
    const shown = '#/advertisers/1/performance?size=10&currency=EUR&market=DE&group=products'
    const { page } = await start(t, stage.showcase.advertiserKey, shown)
    const range = await rangeOf(page)
    const gtin = await page.locator('tbody tr').first().locator('[data-column=GTIN]').innerText()
    await page.locator('tbody tr').first().getByRole('link').first().click()
    await until(page, `location.hash.includes('/products/')`)
    await settled(page)
    const body = { ...range, filters: [{ field: 'GTIN', values: [gtin] }] }
    const look = async () => {
      await page.reload()
      await settled(page)
      const lines = page.locator('section[aria-label="Campaigns and ad groups"] tbody tr')
      const sums = lines.filter({ has: page.locator('strong') })
      return await readCells(sums, ['IMPRESSIONS', 'AD_SPEND_REVENUE', 'CONVERSION_VALUE'])
    }

    await compare(body, look, (rows) => {
      const keys = new Set(rows.map((row) => `${row['CAMPAIGN_NAME']} ${row['CURRENCY']}`))
      const sums = [...keys].map((key) => {
        const sum = addUp(
          rows.filter((row) => `${row['CAMPAIGN_NAME']} ${row['CURRENCY']}` === key)
        )
        return [sum['IMPRESSIONS'], sum['AD_SPEND_REVENUE'], sum['CONVERSION_VALUE']]
      })
      return sums.toSorted(byText)
    })
  })

  it('a credited purchase leads to its explanation, for the advertiser and for the operator', async (t) => {
    const { page } = await start(t, stage.showcase.advertiserKey, '#/advertisers/1/purchases')
    await page.locator('tbody th a').first().click()
    await until(page, `/purchases\\/[0-9]+\\//.test(location.hash)`)
    await settled(page)
    await page.getByText('Credited to you', { exact: true }).first().waitFor()
    const [, publisherId = '', transactionId = ''] =
      /purchases\/(\d+)\/([^?]+)/u.exec(page.url()) ?? []

    const lookup = `#/operator/lookup/${publisherId}/${transactionId}`
    const operator = await start(t, stage.showcase.adminKey, lookup)
    await operator.page.getByText('Counted').first().waitFor()
  })

  it('the chart is read day by day with the arrow keys', async (t) => {
    const { page } = await start(t, stage.showcase.advertiserKey)
    await page.locator('.plot').focus()
    await page.keyboard.press('ArrowLeft')
    await until(page, `document.querySelectorAll('.readout data').length > 0`)
    const last = await page.locator('.readout .day').innerText()
    await page.keyboard.press('ArrowLeft')

    await until(
      page,
      `document.querySelector('.readout .day').innerText !== ${JSON.stringify(last)}`
    )
  })

  it('everything a reader needs is reached with the keyboard alone', async (t) => {
    const { page } = await visit({ browser: stage.browser, url: stage.showcase.url }, t)
    await until(page, `document.activeElement?.tagName === 'INPUT'`)
    await page.keyboard.type(stage.showcase.advertiserKey)
    await page.keyboard.press('Enter')
    await page.getByRole('navigation', { name: 'Pages' }).waitFor()
    await settled(page)
    // From the top of the page, as whoever comes back to it.
    await page.reload()
    await settled(page)
    const reached = new Set<string>()
    for (let step = 0; step < 90; step += 1) {
      await page.keyboard.press('Tab')
      reached.add(
        String(
          await page.evaluate(
            `document.activeElement.closest('label, button, a, summary, .plot')?.textContent.trim().slice(0, 14) ?? ''`
          )
        )
      )
    }

    for (const name of [
      'Skip to conten',
      'Performance',
      'Assets',
      'Sign out',
      'Columns',
      'Download CSV',
      'Filter byCampa',
    ]) {
      assert.ok(reached.has(name), `${name} among ${[...reached].join(', ')}`)
    }
  })

  it('choosing an asset shows it in the ad group, and the service says so afterwards', async (t) => {
    const { page } = await start(
      t,
      stage.showcase.advertiserKey,
      '#/advertisers/1/assets?adGroup=5105'
    )
    await page.getByRole('button', { name: /Show this one.*300x250.png/ }).click()
    await page.getByText('Shown now').waitFor()
    const account = await fetch(`${stage.showcase.url}/v2/advertisers/1/account`, {
      headers: { authorization: `Bearer ${stage.showcase.advertiserKey}` },
    })
    const { assignments } = (await account.json()) as { assignments: { adGroupId: number }[] }

    assert.ok(assignments.some(({ adGroupId }) => adGroupId === 5_105))
    await page.locator('.preview img').first().waitFor()
  })

  it('a key that is made on the page works, and once revoked there the page of who uses it ends', async (t) => {
    const operator = await start(t, stage.showcase.adminKey, '#/operator/keys')
    await operator.page.getByText('Make a key, or invite a person').click()
    await operator.page.getByLabel('Name: who holds it').fill('A visitor')
    await operator.page.getByLabel('Advertisers: all, or ids').fill('1')
    await operator.page.getByLabel('read reports').check()
    await operator.page.getByRole('button', { name: 'Make the key' }).click()
    const key = await operator.page.locator('.made code').innerText()
    await eventually('the key is known', async () => {
      const headers = { authorization: `Bearer ${key}` }
      return (await fetch(`${stage.showcase.url}/v2/me`, { headers })).ok
    })
    const { page } = await start(t, key)
    await page.locator('[data-total=IMPRESSIONS]').waitFor()

    await operator.page.getByRole('button', { name: 'Revoke A visitor' }).click()
    await operator.page.getByRole('button', { name: 'Revoke for good' }).click()
    await operator.page
      .getByText(/^Revoked/)
      .first()
      .waitFor()

    await eventually('the session ends', async () => {
      await page.reload()
      const notice = page.getByText('The key is not valid')
      return await notice.waitFor({ timeout: 1_000 }).then(() => true)
    })
  })

  it('what cannot be loaded is told, and trying again shows it', async (t) => {
    const { page } = await start(t, stage.showcase.advertiserKey, '#/nowhere')
    let isBroken = true
    await page.route('**/series.json', async (route) => {
      if (isBroken) await route.fulfill({ status: 500, json: { messages: ['It broke here.'] } })
      else await route.continue()
    })
    await open(page, '#/advertisers/1/performance?profile=CLK_14_DAYS')
    await page.getByText('It broke here.').waitFor()
    isBroken = false
    await page.getByRole('button', { name: 'Try again' }).click()

    await page.locator('[data-total=IMPRESSIONS]').waitFor()
  })

  it('an advertiser key finds nothing of another advertiser', async (t) => {
    const { page } = await start(t, stage.showcase.advertiserKey, '#/advertisers/2/performance')

    await page.getByText('The key is not for this advertiser.').first().waitFor()
    assert.equal(await page.locator('[data-total]').count(), 0)
  })

  it('the first page is drawn and answers within a second of its address on this machine, or says how long it took', async (t) => {
    const { page } = await start(t, stage.showcase.advertiserKey)
    await page.reload()
    await page.getByRole('heading', { name: 'Performance' }).waitFor()
    const timing = await page.evaluate(
      `(() => { const [one] = performance.getEntriesByType('navigation'); return { interactive: Math.round(one.domInteractive), loaded: Math.round(one.domContentLoadedEventEnd), now: Math.round(performance.now()) } })()`
    )

    t.diagnostic(JSON.stringify(timing))
    assert.ok(timing !== null)
  })
})
