// Several people on one key, each with a browser profile of their own, who open a page at once.
import type { TestContext } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import type { JsonGroups, JsonSeries } from '../../src/contract/report-json.ts'
import { open, setInstant, signIn, visit, type Visitor } from './browser.ts'

interface Group {
  readonly browser: Browser
  readonly url: string
  readonly key: string
  readonly count: number
  /** What the clocks of the browsers say; that of the machine when absent. */
  readonly nowMs?: number
}

export interface Person extends Visitor {
  /** Answers that all places are taken, which the page is to ask again. */
  busyCount: number
  readonly questions: Question[]
}

interface Question {
  readonly path: string
  readonly body: string
}

/** Signed in, at a page without figures. */
export async function signInAll(
  { browser, url, key, count, nowMs }: Group,
  t?: Pick<TestContext, 'after'>
): Promise<readonly Person[]> {
  return await Promise.all(
    Array.from({ length: count }, async () => {
      const visitor = await visit({ browser, url, address: '#/nowhere' }, t)
      if (nowMs !== undefined) await setInstant(visitor.page, nowMs)
      const person: Person = { ...visitor, busyCount: 0, questions: [] }
      visitor.page.on('request', (request) => {
        const { pathname } = new URL(request.url())
        const body = request.postData()
        if (body !== null) person.questions.push({ path: pathname, body })
      })
      visitor.page.on('response', (response) => {
        if (response.status() === 429 || response.status() === 503) person.busyCount += 1
      })
      await signIn(visitor.page, key)
      return person
    })
  )
}

export interface Shown {
  readonly ms: number
  readonly failures: readonly string[]
  readonly busyCount: number
  /** By the name of the total. */
  readonly totals: Readonly<Record<string, string | null>>
  /** Spend of each row of the table, in its order. */
  readonly rows: readonly string[]
  /** Every figure of the page, in its order. */
  readonly figures: readonly string[]
}

/** Resolves when nothing is loading on anybody's page. */
export async function openAtOnce(
  people: readonly Person[],
  address: string
): Promise<readonly Shown[]> {
  for (const person of people) {
    person.busyCount = 0
    person.questions.length = 0
  }
  return await Promise.all(
    people.map(async (person) => {
      const startMs = performance.now()
      await open(person.page, address)
      const ms = performance.now() - startMs
      return { ms, busyCount: person.busyCount, ...(await readShown(person.page)) }
    })
  )
}

async function readShown(page: Page): Promise<Omit<Shown, 'ms' | 'busyCount'>> {
  return await page.evaluate(`({
    failures: [...document.querySelectorAll('.failure')].map((one) => one.innerText),
    totals: Object.fromEntries([...document.querySelectorAll('[data-total]')].map((tile) =>
      [tile.dataset.total, tile.querySelector('.value data')?.value ?? null])),
    rows: [...document.querySelectorAll('.group-table tbody tr [data-column=AD_SPEND_REVENUE] data')]
      .map((one) => one.value),
    figures: [...document.querySelectorAll('main data')].map((one) => one.value),
  })`)
}

interface Asked {
  readonly url: string
  readonly key: string
}

/** What differs between somebody's page and the answers of the service to the questions that this page asked. */
export async function compareWithService(
  { questions }: Person,
  { totals, rows }: Shown,
  asked: Asked
): Promise<readonly string[]> {
  const ask = async <Answer>(name: string): Promise<readonly Answer[]> => {
    const own = questions.filter(({ path }) => path.endsWith(name))
    return await Promise.all(own.map((one) => readAnswer<Answer>(one, asked)))
  }
  // Besides the period there are the days that it is compared with, and those that are not over.
  const series = (await ask<JsonSeries>('series.json')).flatMap(
    ({ converted, totals: own }): readonly object[] =>
      converted === undefined ? own : [converted.totals ?? {}]
  )
  const groups = (await ask<JsonGroups>('groups.json')).map((one) =>
    (one.converted?.rows ?? one.rows).map((row) => row.AD_SPEND_REVENUE).join(' ')
  )
  const faults: string[] = []
  if (series.length > 0 && !series.some((sums) => hasAll(sums, totals))) {
    faults.push(
      `the totals are ${JSON.stringify(totals)} and the answers ${JSON.stringify(series)}`
    )
  }
  if (groups.length > 0 && !groups.includes(rows.join(' '))) {
    faults.push(`the rows are ${rows.join(' ')} and the answers ${groups.join(' / ')}`)
  }
  return faults
}

function hasAll(sums: object, totals: Shown['totals']): boolean {
  const values = new Map<string, unknown>(Object.entries(sums))
  const names = Object.entries(totals)
  return names.length > 0 && names.every(([name, value]) => values.get(name) === value)
}

async function readAnswer<Answer>({ path, body }: Question, { url, key }: Asked): Promise<Answer> {
  const answer = await fetch(new URL(path, url), {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body,
  })
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
  return (await answer.json()) as Answer
}
