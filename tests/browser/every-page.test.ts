// Every page of the menu for each kind of reader, on a desktop and on a phone, with clocks around the world that stand
// near midnight. Each page meets every reader that may see it, every clock and both sizes.
import assert from 'node:assert/strict'
import { before, describe, it, type TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import { noBrowser, open, setInstant, settled, signIn, visit, type Size } from './browser.ts'
import { parseDecimal } from '../../src/domain/money.ts'
import { addUp, parseCsv, type CsvRow } from './csv-figures.ts'
import { findAllBarriers, isTooWide } from './read-page.ts'
import { Stage } from './stage.ts'

interface Walk {
  readonly size: Size
  readonly timezoneId: string
  /** Of the last midnight there. */
  readonly secondsAfter: number
}

const honolulu = { timezoneId: 'Pacific/Honolulu', secondsAfter: -30 }
const berlin = { timezoneId: 'Europe/Berlin', secondsAfter: 30 }
const tokyo = { timezoneId: 'Asia/Tokyo', secondsAfter: -1 }

type Role = 'advertiser' | 'agency' | 'operator'

interface Reader {
  readonly advertiserId: number
  /** The fewest that the menu leads to. */
  readonly pagesMin: number
  readonly walks: readonly Walk[]
}

const readers: Readonly<Record<Role, Reader>> = {
  advertiser: {
    advertiserId: 1,
    pagesMin: 4,
    walks: [
      { size: 'desktop', ...honolulu },
      { size: 'phone', ...berlin },
      { size: 'desktop', ...tokyo },
    ],
  },
  agency: {
    advertiserId: 2,
    pagesMin: 5,
    walks: [
      { size: 'phone', ...honolulu },
      { size: 'desktop', ...berlin },
      { size: 'phone', ...tokyo },
    ],
  },
  operator: {
    advertiserId: 1,
    pagesMin: 12,
    walks: [
      { size: 'desktop', ...honolulu },
      { size: 'phone', ...berlin },
      { size: 'desktop', ...tokyo },
    ],
  },
}
/** Reached from a table instead of from the menu. */
const product = '#/advertisers/1/products/2940000000007'

/** So many seconds after the last midnight of the zone, or before it. */
function nearMidnight({ timezoneId, secondsAfter }: Walk): number {
  const parts = new Intl.DateTimeFormat('en-GB', {
    timeZone: timezoneId,
    hourCycle: 'h23',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  }).formatToParts(Date.now())
  const read = (type: string) => Number(parts.find((part) => part.type === type)?.value)
  const sinceMidnight = (read('hour') * 60 + read('minute')) * 60 + read('second')
  return (Math.floor(Date.now() / 1_000) - sinceMidnight + secondsAfter) * 1_000
}

interface Asked {
  readonly method: string
  readonly path: string
  readonly body: string | null
}

/** Numbers that are shown are texts of the service, to the last digit: every value of its JSON or CSV. */
function valuesOf(answer: string): readonly string[] {
  return leavesOf(/^[[{]/u.test(answer) ? JSON.parse(answer) : parseCsv(answer))
}

function leavesOf(json: unknown): readonly string[] {
  if (typeof json === 'object' && json !== null) return Object.values(json).flatMap(leavesOf)
  return [String(json)]
}

/** On the overview, and of a campaign on the page of a product. */
const sumRow = '.overview tr.totals, tr:has(> th strong)'

interface ShownRow {
  readonly isSum: boolean
  readonly figures: CsvRow
}

describe('every page for every reader', { skip: noBrowser, timeout: 1_200_000 }, () => {
  const stage = new Stage({ shoppers: 20, days: 5, adsPerDay: 200 })
  const keys: Partial<Record<Role, string>> = {}

  before(async () => {
    const { showcase } = stage
    const made = await ask(showcase.adminKey, {
      method: 'POST',
      path: '/admin/v1/keys',
      body: JSON.stringify({
        name: 'An agency',
        advertisers: [1, 2],
        scopes: ['report:read', 'site:read', 'asset:write'],
      }),
    })
    const { key } = JSON.parse(made) as { key: string }
    Object.assign(keys, {
      advertiser: showcase.advertiserKey,
      agency: key,
      operator: showcase.adminKey,
    })
  })

  async function ask(key: string, { method, path, body }: Asked): Promise<string> {
    const response = await fetch(stage.showcase.url + path, {
      method,
      headers: { authorization: `Bearer ${key}` },
      ...(body !== null && { body }),
    })
    assert.ok(response.ok, `${method} ${path}: ${response.status}`)
    return await response.text()
  }

  async function enter(t: TestContext, role: Role, walk: Walk) {
    const { browser, showcase } = stage
    const visitor = await visit({ browser, url: showcase.url, address: '#/nowhere', ...walk }, t)
    const { page } = visitor
    await setInstant(page, nearMidnight(walk))
    await page.reload()
    const asked: Asked[] = []
    const failed: string[] = []
    page.on('request', (request) => {
      const { pathname, search } = new URL(request.url())
      if (!/^\/(?:v2|admin)\//u.test(pathname)) return
      asked.push({ method: request.method(), path: pathname + search, body: request.postData() })
    })
    page.on('requestfailed', (request) => {
      const reason = request.failure()?.errorText ?? ''
      // A page that is left does not wait for its answers.
      if (!reason.includes('ABORTED')) failed.push(`${request.url()} ${reason}`)
    })
    page.on('response', (response) => {
      if (response.status() >= 400) failed.push(`${response.url()} ${response.status()}`)
    })
    await signIn(page, keys[role] ?? '')
    await settled(page)
    return { ...visitor, asked, failed }
  }

  for (const [role, { advertiserId, pagesMin, walks }] of Object.entries(readers)) {
    for (const walk of walks) {
      it(`of the ${role}, on a ${walk.size} near midnight of ${walk.timezoneId}, is sound, fits, has a title and shows the figures of the service`, async (t) => {
        assert.ok(role === 'advertiser' || role === 'agency' || role === 'operator')
        const { page, complaints, failed, asked } = await enter(t, role, walk)
        await open(page, `#/advertisers/${advertiserId}/performance`)
        const menu = await menuOf(page)
        assert.ok(menu.length >= pagesMin, menu.join(' '))
        const faults: string[] = []
        for (const address of [...menu, product]) {
          await open(page, '#/nowhere')
          asked.length = 0
          await open(page, address)
          const figures = address.endsWith('/live')
            ? []
            : await unknownFigures(page, keys[role] ?? '', asked)
          const found = [...(await faultsOf(page)), ...figures, ...(await wrongSums(page))]
          faults.push(...found.map((fault) => `${address}: ${fault}`))
        }
        assert.deepEqual(faults, [])
        assert.deepEqual(failed, [])
        assert.deepEqual(complaints, [])
      })
    }
  }

  /** Shown, and in no answer of the service to the same questions, asked anew by a program. */
  async function unknownFigures(page: Page, key: string, asked: readonly Asked[]) {
    const shown = await figuresOf(page)
    const answers = await Promise.all(asked.map(async (question) => await ask(key, question)))
    const known = new Set(answers.flatMap(valuesOf))
    return shown
      .filter((figure) => !known.has(figure))
      .map((figure) => `${figure} is shown, and not the service's`)
  }

  it('figures are there on paper and where the system sets the colours, of the account and of a product', async (t) => {
    const pages: readonly (readonly [Role, string])[] = [
      ['advertiser', '#/advertisers/1/performance'],
      ['advertiser', product],
    ]
    for (const [role, address] of pages) {
      const { page, context } = await enter(t, role, { size: 'desktop', ...berlin })
      await open(page, address)
      // The running days come after the rest.
      await page.waitForLoadState('networkidle')
      const shown = await visibleFigures(page)
      assert.ok(shown > 0, address)

      await page.emulateMedia({ forcedColors: 'active' })
      assert.equal(await visibleFigures(page), shown, address)
      assert.deepEqual(await findAllBarriers(page), [], address)
      await page.emulateMedia({ forcedColors: 'none', media: 'print' })
      assert.ok((await visibleFigures(page)) >= shown, address)
      assert.equal(await page.locator('nav.menu').isVisible(), false, address)
      await context.close()
    }
  })
})

async function menuOf(page: Page): Promise<readonly string[]> {
  return await page.evaluate<readonly string[]>(
    `[...document.querySelectorAll('nav.menu a')].map((link) => link.getAttribute('href').split('?')[0])`
  )
}

async function faultsOf(page: Page): Promise<readonly string[]> {
  const heading = await page.locator('main h1').first().innerText()
  const title = await page.title()
  return [
    ...(heading.trim() === '' ? ['it has no heading'] : []),
    ...(/\S · Shelftrace$/u.test(title) ? [] : [`its title is ${title}`]),
    ...((await isTooWide(page)) ? ['it is wider than the screen'] : []),
    ...(await findAllBarriers(page)),
  ]
}

/** What the page adds up by itself is the sum of the rows below it. */
async function wrongSums(page: Page): Promise<readonly string[]> {
  const rows = await page.evaluate<readonly ShownRow[]>(
    `[...document.querySelectorAll('main tr:has(data)')].map((row) => ({
      isSum: row.matches('${sumRow}'),
      figures: Object.fromEntries([...row.querySelectorAll('td:has(data)')].map((cell) =>
        [cell.dataset.column, cell.querySelector('data').value])),
    }))`
  )
  return rows.flatMap(({ isSum, figures }, place) => {
    if (!isSum) return []
    const next = rows.findIndex((row, other) => other > place && row.isSum)
    const own = rows.slice(place + 1, next === -1 ? rows.length : next).map((row) => row.figures)
    const sums = addUp(own)
    return Object.entries(figures).flatMap(([name, shown]) => {
      // Purchases of several rows may be the same, so that they have no sum.
      const expected = sums[name] ?? (own.length === 1 ? own[0]?.[name] : '')
      return parseDecimal(shown, 9) === parseDecimal(expected ?? '', 9)
        ? []
        : [`${name} is ${shown}, and ${expected} by the rows below`]
    })
  })
}

async function figuresOf(page: Page): Promise<readonly string[]> {
  return await page.evaluate<readonly string[]>(
    `[...document.querySelectorAll('main data:not(:is(${sumRow}) *)')].map(({ value }) => value).filter((value) => value !== '')`
  )
}

async function visibleFigures(page: Page): Promise<number> {
  return await page.evaluate<number>(
    `[...document.querySelectorAll('main :is(data, td.figure)')].filter((one) => one.checkVisibility()).length`
  )
}
