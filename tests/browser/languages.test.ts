// The dashboard in the languages of its readers.
import assert from 'node:assert/strict'
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import type { AdvertiserAccount } from '../../src/contract/me.ts'
import { build, preview } from 'vite'
import { noBrowser, open, visit } from './browser.ts'
import { recordDrawnTexts } from './drawn-texts.ts'
import { assertFits, findBarriers } from './read-page.ts'
import { operatorPages } from './operator-pages.ts'
import { Stage } from './stage.ts'

const performance = '#/advertisers/1/performance'
const advertiserPages = [
  performance,
  `${performance}?compare=profiles&group=rows`,
  `${performance}?title=no-such-product`,
  '#/advertisers/1/products/2940000000007',
  '#/advertisers/1/placements',
  '#/advertisers/1/assets',
]

const shownPages = [...operatorPages, '#/overview', '#/help']

const german: Readonly<Record<string, string>> = JSON.parse(
  await readFile('dashboard/src/languages/de.json', 'utf8')
)
const germanTexts = new Set(Object.values(german))

/** What a German page must not show: English texts that no German one equals, with anything for their values. */
const englishForms = Object.entries(german)
  .map(([key, text]) => [key.replace(/_(?:one|other)$/u, ''), text] as const)
  .filter(([key, text]) => key !== text && !germanTexts.has(key))
  .filter(([key]) => /\p{L}{3}/u.test(key.replaceAll(/\{\{\w+\}\}/gu, '')))
  .map(([key]) => new RegExp(`^${escapeForm(key).replaceAll(/\\\{\\\{\w+\\\}\\\}/gu, '.+')}$`, 'u'))

function isEnglish(text: string): boolean {
  return englishForms.some((form) => form.test(text))
}

function escapeForm(text: string): string {
  return text.replaceAll(/[$()*+.?[\\\]^{|}]/gu, String.raw`\$&`)
}

/** Everything that is read on a page or of it: texts, names for screen readers, hints, the title, and the canvas. */
async function readTexts(page: Page): Promise<readonly string[]> {
  return await page.evaluate(`(() => {
    const texts = document.title.split(' · ')
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    while (walker.nextNode()) texts.push(walker.currentNode.data)
    // What stands in one paragraph is one text, also around its elements.
    for (const one of document.querySelectorAll('p, h1, h2, label, li')) texts.push(one.textContent)
    for (const one of document.querySelectorAll('*')) {
      for (const name of ['aria-label', 'title', 'placeholder', 'alt']) {
        const text = one.getAttribute(name)
        if (text !== null) texts.push(text)
      }
    }
    texts.push(...drawn.splice(0).map((one) => one.replace(/ at .*/u, '')))
    return texts.map((text) => text.replaceAll(/\\s+/gu, ' ').trim()).filter((text) => text !== '')
  })()`)
}

async function languageOf(page: Page): Promise<string> {
  return await page.evaluate('document.documentElement.lang')
}

async function assertGerman(page: Page, address: string, names: ReadonlySet<string>) {
  await open(page, address)
  await page.evaluate(`for (const one of document.querySelectorAll('details')) one.open = true`)
  const texts = await readTexts(page)
  assert.ok(texts.length > 20, address)
  const english = texts.filter((text) => !names.has(text) && isEnglish(text))
  assert.deepEqual([...new Set(english)], [], address)
  await page.setViewportSize({ width: 360, height: 740 })
  await assertFits(page, address)
  await page.setViewportSize({ width: 1_440, height: 900 })
}

describe('the dashboard in languages', { skip: noBrowser, timeout: 1_200_000 }, () => {
  const stage = new Stage({ shoppers: 20, days: 8, adsPerDay: 300 })

  async function start(t: TestContext, locale: string) {
    const key = stage.showcase.advertiserKey
    return await stage.enter(t, { key, locale, address: performance })
  }

  /** Of the catalog: data, which no language changes. */
  async function readNames(): Promise<ReadonlySet<string>> {
    const { advertiserKey, url } = stage.showcase
    const response = await fetch(`${url}/v2/advertisers/1/account`, {
      headers: { authorization: `Bearer ${advertiserKey}` },
    })
    const { campaigns, adGroups, publishers } = (await response.json()) as AdvertiserAccount
    return new Set([...campaigns, ...adGroups, ...publishers].map(({ name }) => name))
  }

  async function visitAlone(t: TestContext, locale: string, address = '') {
    const { browser, showcase } = stage
    return await visit({ browser, url: showcase.url, locale, address }, t)
  }

  async function startInGerman(t: TestContext, key: string) {
    const visitor = await stage.enter(t, { key, locale: 'de-DE' })
    await visitor.page.addInitScript(recordDrawnTexts)
    await visitor.page.reload()
    return visitor
  }

  it('no English text is left on the pages of a German advertiser, nothing bars anybody, and all fits a phone', async (t) => {
    const names = await readNames()
    const { page, complaints } = await startInGerman(t, stage.showcase.advertiserKey)
    for (const address of advertiserPages) {
      await assertGerman(page, address, names)
      assert.deepEqual(await findBarriers(page), [], address)
    }
    assert.deepEqual(complaints, [])
  })

  it('no English text is left on the pages of a German operator, and all fits a phone', async (t) => {
    const names = await readNames()
    const { page, complaints } = await startInGerman(t, stage.showcase.adminKey)
    for (const address of shownPages) await assertGerman(page, address, names)
    assert.deepEqual(complaints, [])
  })

  it('numbers, amounts and days are those of the reader’s own German', async (t) => {
    for (const locale of ['de-DE', 'de-AT']) {
      const { page } = await start(t, locale)
      assert.equal(await languageOf(page), locale)
      const tile = page.locator('[data-total=AD_SPEND_REVENUE] .value data')
      const exact = (await tile.getAttribute('value')) ?? ''
      const money = new Intl.NumberFormat(locale, { style: 'currency', currency: 'EUR' })
      assert.equal(await tile.innerText(), money.format(Number(exact)))
      const days = await page.locator('main .head .muted').innerText()
      const dates = page.locator('.period-choice input[type=date]')
      const [first, last] = [await dates.nth(0).inputValue(), await dates.nth(1).inputValue()]
      const format = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' })
      const range = format.formatRange(new Date(first), new Date(last))
      assert.equal(days, `${range}, Tage in der Ortszeit jedes Marktes`)
    }
  })

  it('who reads no language that exists gets English words with English numbers and days', async (t) => {
    const { page } = await start(t, 'fr-FR')
    assert.equal(await languageOf(page), 'en')
    const tile = page.locator('[data-total=AD_SPEND_REVENUE] .value data')
    const exact = (await tile.getAttribute('value')) ?? ''
    const money = new Intl.NumberFormat('en', { style: 'currency', currency: 'EUR' })
    assert.equal(await tile.innerText(), money.format(Number(exact)))
    assert.match(await page.locator('main .head .muted').innerText(), /market’s own time$/u)
  })

  it('a language that is chosen applies at once, keeps key and address, and is there the next time', async (t) => {
    const { page } = await start(t, 'en-GB')
    await open(page, `${performance}?group=products&base=none`)
    const { hash } = new URL(page.url())

    await page.getByLabel('Language').selectOption('de')

    await page.getByRole('heading', { name: 'Leistung' }).waitFor()
    assert.equal(await languageOf(page), 'de')
    assert.equal(new URL(page.url()).hash, hash)
    assert.match(await page.title(), /^Velmora Coffee · Leistung · /u)
    await page.getByRole('button', { name: 'Abmelden' }).click()
    await page.reload()
    await page.getByRole('button', { name: 'Anmelden' }).waitFor()
    await page.getByLabel('Sprache').selectOption('en')
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
    assert.equal(await languageOf(page), 'en-GB')
  })

  // The code is out of the address as soon as the page is there.
  it('on the page of an invitation the language is chosen without losing the invitation', async (t) => {
    const { adminKey, url } = stage.showcase
    const response = await fetch(`${url}/admin/v1/invitations`, {
      method: 'POST',
      headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Erika', scopes: ['report:read'], advertisers: [1] }),
    })
    // The contract's type; the service's tests hold it to it.
    const { address } = (await response.json()) as { readonly address: string }
    const { page } = await visitAlone(t, 'en-GB', address)

    await page.getByLabel('Language').selectOption('de')

    await page.getByRole('button', { name: 'Einladung annehmen' }).click()
    await page.getByRole('button', { name: 'Dashboard öffnen' }).click()
    await page.getByRole('heading', { name: 'Leistung' }).waitFor()
  })

  it('a refusal is told in the language of the reader, and what has no words there in English', async (t) => {
    const { page } = await start(t, 'de-DE')
    const refuse = async (code: string, message: string) => {
      await page.route('**/reports/spa/**', async (route) => {
        await route.fulfill({
          status: 422,
          headers: { 'shelftrace-error-code': code },
          json: { messages: [message] },
        })
      })
      await open(page, `${performance}?period=yesterday&title=${code}`)
      return await page.getByRole('alert').first().innerText()
    }
    assert.match(
      await refuse('DAYS_FINAL', 'The days are final.'),
      /^Diese Tage sind endgültig abgeschlossen/u
    )
    assert.match(await refuse('OF_TOMORROW', 'Nobody knows this yet.'), /^Nobody knows this yet\./u)
    assert.match(
      await refuse('REQUEST_INVALID', '/limit must be at most 10000'),
      /^Die Eingabe verstößt[\s\S]*\/limit must be at most 10000/u
    )
  })

  it('where the file of a language cannot be had, the dashboard is there in English', async (t) => {
    const { page } = await visitAlone(t, 'de-DE')
    await page.route('**/assets/de-*.js', async (route) => await route.abort())
    await page.reload()
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
    assert.equal(await languageOf(page), 'en')
  })

  it('one file more is one language more', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'shelftrace-language-'))
    t.after(async () => await rm(folder, { recursive: true, force: true }))
    await cp('dashboard', join(folder, 'dashboard'), { recursive: true })
    const beside = ['src', 'docs', 'node_modules', 'tsconfig.json', 'package.json', 'CHANGELOG.md']
    for (const name of beside) {
      await symlink(resolve(name), join(folder, name))
    }
    const words = { 'Sign in': 'Kirjaudu', Language: 'Kieli' }
    const file = join(folder, 'dashboard/src/languages/fi.json')
    await writeFile(file, JSON.stringify(words))
    await mkdir(join(folder, 'dist'))
    const root = join(folder, 'dashboard')
    await build({ root, logLevel: 'error' })
    const server = await preview({
      root,
      logLevel: 'error',
      preview: { port: 0, host: '127.0.0.1' },
    })
    t.after(async () => await server.close())

    const url = (server.resolvedUrls?.local[0] ?? '').replace(/\/$/u, '')
    const { page } = await visit({ browser: stage.browser, url, locale: 'fi-FI' }, t)

    await page.getByRole('button', { name: 'Kirjaudu' }).waitFor()
    assert.equal(await languageOf(page), 'fi-FI')
    // What the file lacks is there in English.
    await page.getByRole('heading', { name: 'Sign in to Shelftrace' }).waitFor()
    const offered = await page.getByLabel('Kieli').locator('option').allInnerTexts()
    assert.deepEqual(offered, ['English', 'Deutsch', 'suomi'])
  })
})
