// How campaigns, brands and so on do: the table by groups, its filters, and the way from one level to the next.
import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type { Page, Request } from 'playwright-core'
import type { AdvertiserAccount } from '../../src/contract/me.ts'
import type { JsonGroups } from '../../src/contract/report-json.ts'
import { addDays } from '../../src/domain/day.ts'
import { eventually } from '../helpers/service.ts'
import { noBrowser, open, settled, until, type Size } from './browser.ts'
import { parseCsv } from './csv-figures.ts'
import { assertFits, findBarriers, rangeOf, readTotals } from './read-page.ts'
import { Stage } from './stage.ts'

const performance = '#/advertisers/1/performance'
const tabs = ['campaigns', 'ad-groups', 'products', 'brands', 'publishers', 'markets', 'rows']
const groupings: Readonly<Record<string, readonly string[]>> = {
  campaigns: ['CAMPAIGN'],
  'ad-groups': ['AD_GROUP'],
  products: ['PRODUCT'],
  brands: ['BRAND'],
  publishers: ['PUBLISHER'],
  markets: ['MARKET'],
  rows: ['PRODUCT', 'MARKET', 'PUBLISHER', 'AD_GROUP'],
}

type Row = Readonly<Record<string, string>>

interface GroupQuestion {
  readonly startDate: string
  readonly endDate: string
  readonly filters: readonly { readonly field: string; readonly values: readonly string[] }[]
}

/** The figures of the rows and of the totals, as programs read them. */
async function readTable(page: Page) {
  return await page.evaluate<{ rows: Row[]; totals: Row }>(`(() => {
    const frame = [...document.querySelectorAll('.table-frame')].at(-1)
    const figures = (row) => Object.fromEntries([...row.querySelectorAll('[data-column]')]
      .filter((cell) => cell.querySelector('data'))
      .map((cell) => [cell.dataset.column, cell.querySelector('data').value]))
    return {
      rows: [...frame.querySelectorAll('tbody tr')].map(figures),
      totals: figures(frame.querySelector('tr.totals')),
    }
  })()`)
}

const namesOf = async (page: Page) =>
  await page.locator('.table-frame').last().locator('tbody th').allInnerTexts()

const changes = async (page: Page) =>
  await page.locator('tbody td[data-column=CHANGE]').allInnerTexts()

describe('the table by groups', { skip: noBrowser, timeout: 900_000 }, () => {
  const stage = new Stage()

  async function start(t: TestContext, address: string, size: Size = 'desktop') {
    return await stage.enter(t, { key: stage.showcase.advertiserKey, address, size })
  }

  async function ask(body: object): Promise<JsonGroups> {
    const response = await fetch(`${stage.showcase.url}/v2/advertisers/1/reports/spa/groups.json`, {
      method: 'POST',
      headers: { authorization: `Bearer ${stage.showcase.advertiserKey}` },
      body: JSON.stringify(body),
    })
    assert.equal(response.status, 200)
    return (await response.json()) as JsonGroups
  }

  it('shows the figures of the service on every tab, to the last digit, with totals of all pages and no row twice', async (t) => {
    const { page } = await start(t, `${performance}?currency=EUR`)
    const range = await rangeOf(page)
    for (const tab of ['campaigns', 'products', 'publishers', 'rows']) {
      const question = { ...range, groupBy: groupings[tab], limit: 25 }
      await eventually(`${tab} are those of the service`, async () => {
        await open(page, '#/nowhere')
        await open(page, `${performance}?currency=EUR&group=${tab}`)
        const { rows, totals } = await readTable(page)
        const answer = await ask({ ...question, currency: 'EUR' })
        const pick = (row: Readonly<Record<string, string | null>>) =>
          Object.fromEntries(Object.keys(totals).map((name) => [name, row[name] ?? '']))
        assert.deepEqual(rows, answer.rows.map(pick))
        assert.deepEqual(totals, pick(answer.totals[0] ?? {}))
        return true
      })
      const lines = await page.locator('.table-frame').last().locator('tbody tr').allInnerTexts()
      assert.equal(new Set(lines).size, lines.length, tab)
    }
  })

  /** Purchases with a credited line in the currency, each once. */
  async function readOrders(range: Readonly<Record<string, string>>, currency: string) {
    const { advertiserKey, url } = stage.showcase
    const asked = new URLSearchParams({ ...range, limit: '10000' })
    const response = await fetch(`${url}/v2/advertisers/1/attributions?${String(asked)}`, {
      headers: { authorization: `Bearer ${advertiserKey}` },
    })
    assert.equal(response.status, 200)
    const lines = parseCsv(await response.text()).filter((line) => line['CURRENCY'] === currency)
    return String(
      new Set(lines.map((line) => `${line['PUBLISHER_ID']} ${line['TRANSACTION_ID']}`)).size
    )
  }

  it('counts each credited order once in the tiles, and as many in the totals of the table, with filters too', async (t) => {
    const { page } = await start(t, `${performance}?currency=GBP`)
    for (const filter of ['', '&campaign=1001']) {
      await eventually('tiles and totals are equal', async () => {
        await open(page, '#/nowhere')
        await open(page, `${performance}?currency=GBP${filter}`)
        const tiles = await readTotals(page)
        const { totals } = await readTable(page)
        const range = { ...(await rangeOf(page)) }
        if (filter === '') assert.equal(tiles['ORDERS'], await readOrders(range, 'GBP'))
        for (const name of ['ORDERS', 'AD_SPEND_REVENUE', 'CONVERSION_VALUE', 'CLICKS']) {
          assert.equal(totals[name], tiles[name], name)
        }
        return true
      })
    }
  })

  it('leads from a campaign to its ad groups and their products, and back by the levels and by the browser', async (t) => {
    const { page } = await start(t, performance)
    const campaign = (await namesOf(page))[0] ?? ''
    await page.locator('.table-frame').last().locator('tbody th a').first().click()
    await until(page, `location.hash.includes('group=ad-groups')`)
    await settled(page)
    await page.getByRole('button', { name: `Remove Campaign: ${campaign}` }).waitFor()
    const adGroups = await namesOf(page)
    await page.locator('.table-frame').last().locator('tbody th a').first().click()
    await until(page, `location.hash.includes('group=products')`)
    await settled(page)
    const levels = page.getByRole('navigation', { name: 'Levels' })
    assert.equal(await levels.innerText(), `All campaigns › ${campaign} › ${adGroups[0]}`)

    await levels.getByRole('link', { name: campaign }).click()
    await until(page, `location.hash.includes('group=ad-groups')`)
    await settled(page)
    assert.deepEqual(await namesOf(page), adGroups)
    await levels.getByRole('link', { name: 'All campaigns' }).click()
    await until(page, `location.hash.includes('group=campaigns')`)
    await settled(page)
    assert.equal(await page.locator('.chip').count(), 0)
    await page.goBack()
    await settled(page)
    assert.deepEqual(await namesOf(page), adGroups)
  })

  it('offers brands by a part of their name, takes several, and filters all of the page by them', async (t) => {
    const { page, complaints } = await start(t, `${performance}?group=brands`)
    const all = await namesOf(page)
    const [brand = ''] = all
    await page.getByLabel('Filter by').selectOption('brand')
    const field = page.getByRole('combobox', { name: 'Brand' })
    await field.fill(brand.slice(1, 4).toUpperCase())
    await page.getByRole('option', { name: brand, exact: true }).waitFor()
    assert.deepEqual(await findBarriers(page), [])
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: `Remove Brand: ${brand}` }).waitFor()
    await settled(page)
    assert.deepEqual(await namesOf(page), [brand])
    assert.deepEqual(
      (await readTable(page)).rows[0]?.['CLICKS'],
      (await readTotals(page))['CLICKS']
    )

    await page.getByLabel('Filter by').selectOption('market')
    await page.getByRole('combobox', { name: 'Market' }).focus()
    await page.getByRole('listbox', { name: 'Market' }).getByRole('option').first().click()
    await settled(page)
    assert.equal(await page.locator('.chip').count(), 2)
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Clear all' }).click()
    await settled(page)
    assert.deepEqual(await namesOf(page), all)
    assert.deepEqual(complaints, [])
  })

  it('offers no market that the advertiser has no access to, as a filter or for placements', async (t) => {
    const key = stage.showcase.adminKey
    const response = await fetch(`${stage.showcase.url}/v2/advertisers/2/account`, {
      headers: { authorization: `Bearer ${key}` },
    })
    const { markets, publishers } = (await response.json()) as AdvertiserAccount
    const codesOf = (ids: readonly number[]) =>
      markets.filter(({ id }) => ids.includes(id)).map(({ code }) => code)
    const own = codesOf(publishers.flatMap(({ marketIds }) => marketIds))
    assert.ok(own.length < markets.length)

    const address = '#/advertisers/2/performance'
    const { page } = await stage.enter(t, { key, address })
    await page.getByLabel('Filter by').selectOption('market')
    await page.getByRole('combobox', { name: 'Market' }).focus()
    const options = page.getByRole('listbox', { name: 'Market' }).getByRole('option')
    await options.first().waitFor()
    assert.deepEqual((await options.allInnerTexts()).toSorted(), own.toSorted())
    await open(page, '#/advertisers/2/placements')
    for (const { id, name, marketIds } of publishers) {
      await page.getByLabel('Publisher').selectOption(String(id))
      await settled(page)
      const offered = await page.getByLabel('Market').locator('option').allInnerTexts()
      assert.deepEqual(offered, codesOf(marketIds), name)
    }
  })

  it('shows names, spend, value and ROAS without scrolling sideways at 1440 pixels, on every tab', async (t) => {
    const { page } = await start(t, performance)
    for (const tab of tabs) {
      await open(page, `${performance}?group=${tab}`)
      const ends = await page.evaluate<number[]>(`(() => {
        const frame = [...document.querySelectorAll('.table-frame')].at(-1)
        const right = frame.getBoundingClientRect().right
        return ['AD_SPEND_REVENUE', 'CONVERSION_VALUE', 'RETURN_ON_AD_SPEND', 'ORDERS'].map((name) =>
          right - frame.querySelector('tbody [data-column=' + name + ']').getBoundingClientRect().right)
      })()`)
      assert.ok(Math.min(...ends) >= 0, `${tab}: ${ends.join(' ')}`)
    }
  })

  it('keeps headings, totals and names in place while rows and columns are scrolled', async (t) => {
    const { page } = await start(t, `${performance}?group=rows&size=100`)
    const frame = page.locator('.table-frame').last()
    const place = async () => await frame.locator('tr.totals th').boundingBox()
    const placeBefore = await place()
    await page.evaluate(`[...document.querySelectorAll('.table-frame')].at(-1).scrollTo(300, 600)`)
    const now = await place()
    assert.ok(placeBefore !== null && now !== null)
    assert.ok(Math.abs(now.x - placeBefore.x) < 2 && Math.abs(now.y - placeBefore.y) < 2)
  })

  it('compares the value of each row shown with the days before, and says which rows are new', async (t) => {
    const { page, complaints } = await start(t, '#/nowhere')
    const address = `${performance}?currency=EUR&period=last-7&group=products&size=10`
    const percent = {
      style: 'percent',
      minimumFractionDigits: 1,
      maximumFractionDigits: 1,
    } as const
    const format = new Intl.NumberFormat('en-GB', { ...percent, signDisplay: 'exceptZero' })
    await eventually('changes are those of the answers of the service', async () => {
      const questions: GroupQuestion[] = []
      const note = (request: Request) => {
        if (request.url().endsWith('groups.json')) {
          questions.push(request.postDataJSON() as GroupQuestion)
        }
      }
      page.on('request', note)
      await open(page, '#/nowhere')
      await open(page, address)
      page.off('request', note)
      const [table, base] = questions
      assert.ok(table !== undefined && base !== undefined && questions.length === 2)
      const [now, before] = [await ask(table), await ask(base)]
      const ids = now.rows.map((row) => row['GTIN'] ?? '')
      assert.equal(ids.length, 10)
      assert.deepEqual(base.filters, [...table.filters, { field: 'GTIN', values: ids }])
      assert.equal(base.endDate, addDays(table.startDate, -1))
      assert.equal(base.startDate, addDays(table.startDate, -7))
      const expected = now.rows.map(({ GTIN: gtin, CONVERSION_VALUE: value }) => {
        const row = before.rows.find((one) => one['GTIN'] === gtin)
        if (row === undefined) return 'new'
        const then = Number(row.CONVERSION_VALUE)
        if (then === 0) return 'none before'
        const change = (Number(value) - then) / then
        if (change >= 9.995) return `↑ ×${Math.round(change + 1)}`
        const arrow = Math.abs(change) < 0.0005 ? '→' : change > 0 ? '↑' : '↓'
        return `${arrow} ${format.format(change)}`
      })
      assert.deepEqual(await changes(page), expected)
      assert.ok(expected.some((text) => text.includes('%')))
      return true
    })
    const total = await page.locator('tr.totals [data-column=CHANGE]').innerText()
    const tile = await page.locator('[data-total=CONVERSION_VALUE] .change').innerText()
    assert.ok(total.includes('%') && tile.startsWith(total), `${tile} begins with ${total}`)

    await page.route(/groups\.json$/u, async (route) => {
      const response = await route.fetch()
      const answer = (await response.json()) as JsonGroups
      const { filters } = route.request().postDataJSON() as GroupQuestion
      const isBase = filters.some(({ field }) => field === 'GTIN')
      await route.fulfill({ json: { ...answer, rows: answer.rows.slice(isBase ? -1 : 0) } })
    })
    await open(page, '#/nowhere')
    await open(page, address)
    assert.equal((await changes(page)).filter((text) => text === 'new').length, 9)
    assert.deepEqual(await findBarriers(page), [])
    assert.deepEqual(complaints, [])
  })

  it('has no column of changes where nothing is compared, or where the days before are not whole', async (t) => {
    const { page } = await start(t, `${performance}?period=last-7`)
    assert.notDeepEqual(await changes(page), [])
    for (const query of ['period=last-7&base=none', 'period=last-28', 'period=last-7&group=rows']) {
      await open(page, `${performance}?${query}`)
      assert.deepEqual(await changes(page), [], query)
      assert.notEqual((await namesOf(page)).length, 0, query)
    }
  })

  it('calls a product by its title and its GTIN where it is filtered by, on paper too', async (t) => {
    const { page } = await start(t, `${performance}?group=products`)
    const [title = ''] = await namesOf(page)
    const gtin = await page.locator('tbody td[data-column=GTIN]').first().innerText()
    assert.ok(title !== '' && title !== gtin)
    await open(page, `${performance}?gtin=${gtin}&gtin=4711`)
    await page.getByRole('button', { name: `Remove Product: ${title} (${gtin})` }).waitFor()
    // No catalog has it.
    await page.getByRole('button', { name: 'Remove Product: 4711' }).waitFor()
    const paper = (await page.locator('.period-bar .print-only').textContent()) ?? ''
    assert.ok(paper.includes(`Product “${title} (${gtin}), 4711”`), paper)
  })

  for (const size of ['phone', 'desktop'] as const) {
    it(`is sound for assistive programs and fits at ${size} width, on every tab`, async (t) => {
      const { page, complaints } = await start(t, performance, size)
      for (const tab of tabs) {
        await open(page, `${performance}?group=${tab}&brand=Velmora&campaign=1001`)
        assert.deepEqual(await findBarriers(page), [], tab)
        await assertFits(page, tab)
      }
      assert.deepEqual(complaints, [])
    })
  }
})
