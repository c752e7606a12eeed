// The overview of an agency: one row for each of its advertisers.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, it, type TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import type { JsonGroups, JsonSeries, JsonSummary } from '../../src/contract/report-json.ts'
import { noBrowser, open, settled, type Size } from './browser.ts'
import { assertFits, findBarriers, readTotals } from './read-page.ts'
import { Stage } from './stage.ts'

const names = ['AD_SPEND_REVENUE', 'CONVERSION_VALUE', 'RETURN_ON_AD_SPEND', 'ORDERS', 'CLICKS']

interface ShownRow {
  readonly name: string
  readonly figures: readonly string[]
  readonly text: string
}

/** The rows below the totals. */
async function readRows(page: Page): Promise<readonly ShownRow[]> {
  return await page.evaluate<readonly ShownRow[]>(
    `[...document.querySelectorAll('.overview tbody tr')].map((row) => ({
      name: row.querySelector('th').textContent,
      figures: ${JSON.stringify(names)}.map((name) =>
        row.querySelector('[data-column=' + name + '] data').value),
      text: row.textContent,
    }))`
  )
}

function watchQuestions(page: Page): readonly string[] {
  const questions: string[] = []
  page.on('request', (request) => {
    if (request.url().endsWith('summary.json')) questions.push(request.postData() ?? '')
  })
  return questions
}

describe('the overview of several advertisers', { skip: noBrowser, timeout: 900_000 }, () => {
  const stage = new Stage({ shoppers: 20, days: 8, adsPerDay: 300 })
  let agencyKey = ''

  async function call<Answer>(method: string, path: string, body: unknown): Promise<Answer> {
    const response = await fetch(`${stage.showcase.url}/${path}`, {
      method,
      headers: {
        authorization: `Bearer ${stage.showcase.adminKey}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify(body),
    })
    assert.ok(
      response.ok,
      `${path}: ${response.status} ${response.ok ? '' : await response.text()}`
    )
    return (await response.json()) as Answer
  }

  async function start(t: TestContext, address = '', size: Size = 'desktop') {
    if (agencyKey === '') {
      const request = { name: 'Agency', advertisers: [1, 2, 3], scopes: ['report:read'] }
      agencyKey = (await call<{ key: string }>('POST', 'admin/v1/keys', request)).key
    }
    return await stage.enter(t, { key: agencyKey, address, size })
  }

  /** What the service answers to the question that the page asked last. */
  async function answerTo(questions: readonly string[]): Promise<JsonSummary> {
    const question: object = JSON.parse(questions.at(-1) ?? assert.fail())
    return await call<JsonSummary>('POST', 'v2/reports/spa/summary.json', {
      ...question,
      advertiserIds: [1, 2, 3],
    })
  }

  it('is the first page of a key for several, with the figures of the service, one question for all', async (t) => {
    const { page, complaints } = await start(t, '#/nowhere')
    const questions = watchQuestions(page)
    await open(page, '#/')

    assert.match(page.url(), /#\/overview$/u)
    assert.equal(await page.title(), 'Overview · Shelftrace')
    assert.equal(questions.length, 1)
    const answer = await answerTo(questions)
    const currency = await page.locator('.period-bar').getByLabel('Currency').inputValue()
    const expected = answer.advertisers.map(({ name, totals }) => {
      const own: Readonly<Record<string, string | null>> =
        totals.find(({ CURRENCY }) => CURRENCY === currency) ?? {}
      return [name, ...names.map((figure) => own[figure] ?? '')].join(' ')
    })
    const shown = await readRows(page)
    assert.deepEqual(
      shown.map(({ name, figures }) => [name, ...figures].join(' ')).toSorted(),
      expected.toSorted()
    )
    assert.ok(shown.some(({ figures }) => Number(figures[0]) > 0))
    assert.deepEqual(await findBarriers(page), [])
    const field = await page.getByRole('combobox', { name: 'Advertiser' }).boundingBox()
    const menu = await page.locator('nav.menu').boundingBox()
    assert.ok(field !== null && menu !== null)
    assert.ok(field.x + field.width <= menu.x + menu.width, 'the field ends within the menu')
    assert.deepEqual(complaints, [])
  })

  it('is searched and sorted, keeps both in the address, and saves what is shown', async (t) => {
    const { page } = await start(t)
    const all = await readRows(page)
    await page.getByRole('button', { name: 'Advertiser', exact: true }).click()
    const byName = all.map(({ name }) => name).toSorted((a, b) => a.localeCompare(b))
    // Names begin with A.
    assert.deepEqual(
      (await readRows(page)).map(({ name }) => name),
      byName
    )

    await page.getByRole('searchbox', { name: 'Find an advertiser' }).fill('velm')
    assert.deepEqual(
      (await readRows(page)).map(({ name }) => name),
      ['Velmora Coffee']
    )
    assert.match(page.url(), /q=velm/u)
    await page.reload()
    await settled(page)
    const [row, ...others] = await readRows(page)
    assert.deepEqual([row?.name, others.length], ['Velmora Coffee', 0])

    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download CSV' }).click(),
    ])
    const lines = (await readFile(await download.path(), 'utf8')).trim().split('\r\n')
    assert.equal(lines.length, 2)
    assert.deepEqual(lines[1]?.split(',').slice(1, 7), ['Velmora Coffee', ...(row?.figures ?? [])])

    await page.getByRole('searchbox', { name: 'Find an advertiser' }).fill('nobody')
    await page.getByText('No advertiser has this name.').waitFor()
  })

  it('adds up all currencies in one where that is chosen, marked, with what it was converted from', async (t) => {
    const { page } = await start(t)
    const questions = watchQuestions(page)
    await page.locator('.period-bar').getByLabel('Currency').selectOption('all-EUR')
    await settled(page)

    assert.match(page.url(), /currency=all-EUR/u)
    const { advertisers } = await answerTo(questions)
    const shown = await readRows(page)
    for (const { name, converted, totals } of advertisers) {
      const row = shown.find((one) => one.name === name) ?? assert.fail(name)
      const own: Readonly<Record<string, unknown>> = converted?.totals ?? {}
      assert.deepEqual(
        row.figures,
        names.map((figure) => own[figure] ?? '')
      )
      if (totals.length > 0) assert.match(row.text, /≈ €/u)
      assert.equal(row.text.split(' spent, ').length - 1, totals.length)
    }
    assert.ok(advertisers.some(({ totals }) => totals.length > 1))
    assert.ok(advertisers.some(({ converted }) => Number(converted?.totals?.AD_SPEND_REVENUE) > 0))
    assert.deepEqual(await findBarriers(page), [])
  })

  it('leads to an advertiser, and the switch to another one keeps period, profile and currency', async (t) => {
    const { page } = await start(t, '#/overview?period=last-7&profile=CLK_14_DAYS')
    await page.locator('.overview').getByRole('link', { name: 'Velmora Coffee' }).click()
    await settled(page)
    assert.match(
      page.url(),
      /#\/advertisers\/1\/performance\?currency=[A-Z]{3}&period=last-7&profile=CLK_14_DAYS$/u
    )
    assert.equal(await page.title(), 'Velmora Coffee · Performance · Shelftrace')

    const field = page.getByRole('combobox', { name: 'Advertiser' })
    assert.equal(await field.inputValue(), 'Velmora Coffee')
    await field.focus()
    // The one that was opened last comes first.
    const [first] = await page.getByRole('option').allInnerTexts()
    assert.equal(first, 'Velmora Coffee')
    const { name } = (await answerTo(['{"startDate":"2026-01-01","endDate":"2026-01-01"}']))
      .advertisers[1] ?? { name: '' }
    await field.fill(name.slice(0, 4).toUpperCase())
    await field.press('ArrowDown')
    await field.press('Enter')
    await settled(page)
    assert.match(
      page.url(),
      /#\/advertisers\/2\/performance\?currency=[A-Z]{3}&period=last-7&profile=CLK_14_DAYS$/u
    )
    assert.equal(await page.title(), `${name} · Performance · Shelftrace`)
  })

  it('shows the totals of one advertiser in all currencies, as the service has them, with what they are from', async (t) => {
    const { page } = await start(t, '#/nowhere')
    const questions: string[] = []
    page.on('request', (request) => {
      const body = request.postData() ?? ''
      if (request.url().endsWith('series.json')) questions.push(body)
    })
    await open(page, '#/advertisers/1/performance?currency=all-EUR&base=none&today=included')

    const answer = await call<JsonSeries>(
      'POST',
      'v2/advertisers/1/reports/spa/series.json',
      JSON.parse(questions[0] ?? assert.fail())
    )
    const expected = answer.converted?.totals ?? assert.fail('nothing was converted')
    const shown = await readTotals(page)
    assert.deepEqual(
      names.map((name) => shown[name]),
      names.map((name) => Object.entries(expected).find(([key]) => key === name)?.[1])
    )
    assert.ok(answer.totals.length > 1)
    assert.match(await page.locator('[data-total=AD_SPEND_REVENUE] .value').innerText(), /^≈ €/u)
    assert.equal(await page.locator('.period-bar').getByLabel('Currency').inputValue(), 'all-EUR')
    const from = await page.getByText('at the reference rate of each day, from').innerText()
    assert.equal(from.split(' spent, ').length - 1, answer.totals.length)
    assert.deepEqual(await findBarriers(page), [])

    await page.locator('.period-bar').getByLabel('Currency').selectOption('EUR')
    await settled(page)
    assert.doesNotMatch(await page.locator('.tiles').innerText(), /≈/u)
    assert.equal(await page.getByText('at the reference rate of each day').count(), 0)
  })

  it('has one row for each group in all currencies, in the order of the converted amounts, on the page and in the file', async (t) => {
    const { page } = await start(t, '#/nowhere')
    const questions: string[] = []
    page.on('request', (request) => {
      if (request.url().endsWith('groups.json')) questions.push(request.postData() ?? '')
    })
    await open(page, '#/advertisers/1/performance?currency=all-EUR&base=none&today=included')

    const answer = await call<JsonGroups>(
      'POST',
      'v2/advertisers/1/reports/spa/groups.json',
      JSON.parse(questions[0] ?? assert.fail())
    )
    const { rows: expected } = answer.converted ?? assert.fail('nothing was converted')
    assert.ok(answer.rows.length > expected.length, 'some groups have several currencies')
    const figures = [
      'AD_SPEND_REVENUE',
      'CONVERSION_VALUE',
      'RETURN_ON_AD_SPEND',
      'ORDERS',
    ] as const
    const shown = await page.evaluate<readonly (readonly string[])[]>(
      `[...document.querySelectorAll('.group-table tbody tr')].map((row) => ${JSON.stringify(figures)}
        .map((name) => row.querySelector('[data-column=' + name + '] data').value))`
    )
    assert.deepEqual(
      shown,
      expected.map((row) => figures.map((name) => row[name] ?? ''))
    )
    const amount = page.locator('.group-table tbody td[data-column=AD_SPEND_REVENUE]').first()
    assert.match(await amount.innerText(), /^≈ €/u)
    const [first] = expected
    const own = answer.rows.filter((row) => row.CAMPAIGN_ID === first?.CAMPAIGN_ID)
    const from = page.locator('.group-table tbody td[data-column=CONVERTED_FROM]').first()
    assert.equal(await from.locator('.other').count(), own.length)
    assert.match(await page.locator('.group-table .totals').innerText(), /≈ €/u)
    assert.deepEqual(await findBarriers(page), [])

    const downloading = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download CSV' }).click()
    const file = await readFile(await (await downloading).path(), 'utf8')
    const [header = '', ...lines] = file.trimEnd().split('\r\n')
    assert.match(header, /CONVERTED_AD_SPEND_REVENUE,CONVERTED_CONVERSION_VALUE,/u)
    assert.doesNotMatch(header, /(?:^|,)(?:AD_SPEND_REVENUE|CONVERSION_VALUE|CURRENCY)/u)
    assert.match(header, /CONVERTED_CURRENCY,CONVERTED_FROM,WITHOUT_RATE$/u)
    assert.equal(lines.length, answer.totalRows)
    const place = header.split(',').indexOf('CONVERTED_AD_SPEND_REVENUE')
    assert.equal(lines[0]?.split(',')[place], first?.AD_SPEND_REVENUE)

    // On paper the filters have the names that the table has.
    const { CAMPAIGN_ID: id, CAMPAIGN_NAME: name } = first ?? assert.fail()
    await open(page, `#/advertisers/1/performance?today=included&campaign=${id}`)
    const paper = (await page.locator('.period-bar .print-only').textContent()) ?? ''
    assert.ok(paper.includes(`Only Campaign “${name}”`), paper)
  })

  it('is there for a key of all advertisers that may do nothing else, which finds them by their names', async (t) => {
    const request = { name: 'Analyst', advertisers: 'all', scopes: ['report:read'] }
    const { key } = await call<{ key: string }>('POST', 'admin/v1/keys', request)
    const { page } = await stage.enter(t, { key, address: '' })

    await page.locator('.overview tbody tr').first().waitFor()
    assert.match(page.url(), /#\/overview$/u)
    const answer = await call<JsonSummary>('POST', 'v2/reports/spa/summary.json', {
      startDate: '2026-01-01',
      endDate: '2026-01-01',
    })
    const rows = await readRows(page)
    assert.deepEqual(
      rows.map(({ name }) => name).toSorted(),
      answer.advertisers.map(({ name }) => name).toSorted()
    )
    const field = page.getByRole('combobox', { name: 'Advertiser' })
    const { name, id } = answer.advertisers[1] ?? assert.fail()
    await field.fill(name)
    await field.press('ArrowDown')
    await field.press('Enter')
    await settled(page)
    assert.match(page.url(), new RegExp(`#/advertisers/${id}/performance`, 'u'))
    assert.equal(await page.title(), `${name} · Performance · Shelftrace`)
  })

  it('has room for 200 advertisers in one question, and fits a phone', async (t) => {
    const more = Array.from({ length: 197 }, (_, index) => ({
      id: 10_001 + index,
      name: `Brand ${index + 1}`,
    }))
    await call('PUT', 'admin/v1/catalog', { advertisers: more })
    const request = {
      name: 'Large agency',
      advertisers: [1, 2, 3, ...more.map(({ id }) => id)],
      scopes: ['report:read'],
    }
    const { key } = await call<{ key: string }>('POST', 'admin/v1/keys', request)
    const { page } = await stage.enter(t, { key, address: '#/nowhere', size: 'phone' })
    const questions = watchQuestions(page)
    await open(page, '#/overview')

    const rows = await readRows(page)
    assert.equal(rows.length, 200)
    assert.equal(questions.length, 1)
    assert.match(rows.find(({ name }) => name === 'Brand 7')?.text ?? '', /No events yet/u)
    await assertFits(page, 'the overview')
    assert.deepEqual(await findBarriers(page), [])
  })
})
