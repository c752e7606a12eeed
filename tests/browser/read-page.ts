// What stands on a page of the dashboard, as programs read it.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'
import { listDays } from '../../src/domain/day.ts'
import { addUp, type CsvRow } from './csv-figures.ts'

const axeSource = await readFile(
  createRequire(import.meta.url).resolve('axe-core/axe.min.js'),
  'utf8'
)

/** Findings of a serious kind, by rule and place. */
export async function findBarriers(page: Page): Promise<readonly string[]> {
  return await runAxe(page, (impact) => impact === 'serious' || impact === 'critical')
}

/** Every finding, also against what is only good practice. */
export async function findAllBarriers(page: Page): Promise<readonly string[]> {
  return await runAxe(page, () => true)
}

type Impact = AxeResults['violations'][number]['impact']

async function runAxe(page: Page, counts: (impact: Impact) => boolean): Promise<readonly string[]> {
  if ((await page.evaluate('typeof axe')) === 'undefined') await page.evaluate(axeSource)
  // Of what passes a rule, nothing but one node is described: describing is most of the work on a long table.
  const results: AxeResults = await page.evaluate(`axe.run({ resultTypes: ['violations'] })`)
  return results.violations
    .filter(({ impact }) => counts(impact))
    .flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html.slice(0, 160)}`))
}

/** A4 across, without its margins, at 96 dots an inch. */
export const paper = { width: 1_032, height: 703 }

/** A chart follows the width of its window. */
export const twoFrames =
  'new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(() => drawn())))'

/** The page never scrolls sideways as a whole. */
export async function assertFits(page: Page, what: string): Promise<void> {
  assert.ok(!(await isTooWide(page)), `${what} is wider than the screen`)
}

export async function isTooWide(page: Page): Promise<boolean> {
  return await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth')
}

/** Words in sight below the selector that stand on more than one line; what joins words may end a line. */
export async function brokenWords(page: Page, selector: string): Promise<readonly string[]> {
  return await page.evaluate<readonly string[]>(`(() => {
    const broken = []
    for (const element of document.querySelectorAll(${JSON.stringify(selector)})) {
      if (!element.checkVisibility()) continue
      const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT)
      for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
        for (const { index, 0: word } of text.data.matchAll(/[\\p{L}\\p{N}]+/gu)) {
          const range = document.createRange()
          range.setStart(text, index)
          range.setEnd(text, index + word.length)
          const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)))
          if (lines.size > 1) broken.push(word)
        }
      }
    }
    return broken
  })()`)
}

/** Neither the address nor what the browser stores for the page holds the text. */
export async function assertNoTrace(page: Page, text: string): Promise<void> {
  const traces = await page.evaluate(
    'location.href + JSON.stringify([history.state, { ...sessionStorage }, { ...localStorage }])'
  )
  assert.ok(!String(traces).includes(text.slice(0, 20)))
}

interface Range {
  readonly startDate: string
  readonly endDate: string
}

export async function rangeOf(page: Page): Promise<Range> {
  const values = page.locator('input[type=date]')
  return { startDate: await values.nth(0).inputValue(), endDate: await values.nth(1).inputValue() }
}

export async function readTotals(page: Page): Promise<Record<string, string | null>> {
  const totals: Record<string, string | null> = {}
  for (const tile of await page.locator('[data-total]').all()) {
    const name = (await tile.getAttribute('data-total')) ?? ''
    totals[name] = await tile.locator('.value data').getAttribute('value')
    assert.ok(isShownAs(await tile.locator('.value').innerText(), totals[name]), name)
  }
  return totals
}

/** What people read has the digits of what programs read; ratios are shown shorter. */
function isShownAs(shown: string, exact: string | null): boolean {
  if (exact === null || /^\d+\.\d{4,}$/u.test(exact)) return true
  return shown.replaceAll(/[^0-9.]/gu, '') === exact
}

export async function readDays(
  page: Page
): Promise<readonly [string, Record<string, string | null>][]> {
  await page.getByText('The chart as a table').click()
  const rows = page.locator('.as-table tbody tr')
  await rows.first().waitFor()
  return await page.evaluate(`[...document.querySelectorAll('.as-table tbody tr')].map((row) => [
    row.querySelector('time').dateTime,
    Object.fromEntries([...row.querySelectorAll('td')].map((cell) => [cell.dataset.column, cell.querySelector('data').value])),
  ])`)
}

/** Every day of the range, also those on which nothing happened; without figures before the first ones. */
export function expectDays(
  rows: readonly CsvRow[],
  { startDate, endDate }: Range,
  names: readonly string[]
) {
  const own = rows.filter((row) => row['CURRENCY'] === 'EUR')
  const firstDay = rows.map((row) => row['DATE'] ?? '').toSorted()[0] ?? ''
  return listDays(startDate, endDate).map((day) => {
    const sums = addUp(own.filter((row) => row['DATE'] === day))
    const value = (name: string) => (day < firstDay ? '' : sums[name])
    return [day, Object.fromEntries(names.map((name) => [name, value(name)]))] as const
  })
}

export async function readRows(page: Page, names: readonly string[]) {
  const rows = page.locator('section[aria-label="All rows"] tbody tr')
  const cells: (string | null)[][] = []
  for (const row of await rows.all()) {
    cells.push(
      await Promise.all(
        names.map(async (name) => {
          const cell = row.locator(`[data-column=${name}]`)
          const figure = cell.locator('data')
          return (await figure.count()) > 0
            ? await figure.getAttribute('value')
            : await cell.innerText()
        })
      )
    )
  }
  return cells
}

export async function readCells(rows: ReturnType<Page['locator']>, names: readonly string[]) {
  const all = await Promise.all(
    (await rows.all()).map(async (row) =>
      Promise.all(
        names.map((name) => row.locator(`[data-column=${name}] data`).getAttribute('value'))
      )
    )
  )
  return all.toSorted(byText)
}

export function byText(one: unknown, other: unknown): number {
  const [first, second] = [JSON.stringify(one), JSON.stringify(other)]
  return first < second ? -1 : Number(first > second)
}
