// The system's Chromium, driven over its own protocol; tests without one say so and are skipped. The headless shell
// draws the same pages and takes a sixth less CPU, since it has no window of its own to draw.
import { existsSync } from 'node:fs'
import type { TestContext } from 'node:test'
import { eventually } from '../helpers/service.ts'
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core'

const candidates = [
  process.env['SHELFTRACE_CHROMIUM'] ?? '',
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
]
const executablePath = candidates.find((path) => path !== '' && existsSync(path))

/** What `skip` takes: false, or why there is no browser. */
export const noBrowser: false | string =
  executablePath === undefined
    ? 'there is no Chromium: install one or name it in SHELFTRACE_CHROMIUM'
    : false

/** This machine by a name that browsers do not trust: over plain HTTP they keep the clipboard from its pages. */
export const plainHost = 'shelftrace.test'

export async function launchBrowser(): Promise<Browser> {
  return await chromium.launch({
    ...(executablePath !== undefined && { executablePath }),
    // The first: as root, as in CI, Chromium's own sandbox cannot start. The others: it asks nobody
    // outside for anything.
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      `--host-resolver-rules=MAP ${plainHost} 127.0.0.1`,
    ],
  })
}

export const sizes = {
  phone: { width: 390, height: 844 },
  desktop: { width: 1440, height: 900 },
} as const

export type Size = keyof typeof sizes

export interface Visitor {
  readonly page: Page
  readonly context: BrowserContext
  /** What the page complained about, and what it asked of other hosts. */
  readonly complaints: readonly string[]
}

export interface Visit {
  readonly browser: Browser
  readonly url: string
  /** The page of the dashboard that opens after signing in; the reader's first one when absent. */
  readonly address?: string
  readonly size?: Size
  readonly colorScheme?: 'light' | 'dark'
  readonly timezoneId?: string
  /** Of the browser: English of Britain when absent. */
  readonly locale?: string
}

/** A new profile at the start page; its pictures come from here instead of from elsewhere. */
export async function visit(
  {
    browser,
    url,
    address = '',
    size = 'desktop',
    colorScheme = 'light',
    timezoneId,
    locale = 'en-GB',
  }: Visit,
  t?: Pick<TestContext, 'after'>
): Promise<Visitor> {
  const context = await browser.newContext({
    viewport: sizes[size],
    colorScheme,
    // What turns while it loads would be drawn sixty times a second by the processor.
    reducedMotion: 'reduce',
    locale,
    acceptDownloads: true,
    ...(timezoneId !== undefined && { timezoneId }),
  })
  t?.after(async () => await context.close())
  const page = await context.newPage()
  page.setDefaultTimeout(60_000)
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('console', (message) => {
    const isRefusal = message.text().includes('responded with a status of 4')
    const isComplaint = message.type() === 'error' || message.type() === 'warning'
    // A refusal is the service's to give and the page's to tell; only the browser complains of it.
    if (isComplaint && !isRefusal) complaints.push(message.text())
  })
  page.on('request', (request) => {
    const { host, protocol } = new URL(request.url())
    const isPicture = request.resourceType() === 'image' && protocol === 'https:'
    if (protocol.startsWith('http') && host !== new URL(url).host && !isPicture) {
      complaints.push(`asked ${host}`)
    }
  })
  await context.route(/^https:/u, async (route) => {
    const name = new URL(route.request().url()).pathname
    const [, width = '300', height = '250'] = /(\d+)x(\d+)/u.exec(name) ?? []
    await route.fulfill({ contentType: 'image/svg+xml', body: banner(width, height) })
  })
  await page.goto(`${url}/${address}`)
  return { page, context, complaints }
}

function banner(width: string, height: string): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">
    <defs><linearGradient id="g" x2="1" y2="1"><stop stop-color="#3d2b1f"/><stop offset="1" stop-color="#b9743b"/></linearGradient></defs>
    <rect width="100%" height="100%" fill="url(#g)"/>
    <text x="50%" y="50%" fill="#fff" font-family="serif" font-size="28" text-anchor="middle" dominant-baseline="middle">Velmora Coffee</text></svg>`
}

/**
 * The clock of the computer stands still at an instant, and that of the service says the same. Days are those of the
 * service, so a test that moves one clock alone tests only that.
 */
export async function setInstant(page: Page, atMs: number): Promise<void> {
  await page.clock.setFixedTime(atMs)
  await page.addInitScript(agreeOnInstant)
  await page.evaluate(agreeOnInstant)
}

/** In the page: answers are dated by the clock of the computer. */
const agreeOnInstant = `{
  const get = Headers.prototype.get
  Headers.prototype.get = function (name) {
    return name.toLowerCase() === 'date' ? new Date().toUTCString() : get.call(this, name)
  }
}`

export async function signIn(page: Page, key: string): Promise<void> {
  // In any language.
  await page.locator('input[name=password]').fill(key)
  await page.locator('button[type=submit]').click()
  // On a phone the menu is there and closed.
  await page.locator('nav.menu').waitFor({ state: 'attached' })
}

/** Goes to a page of the dashboard and waits until nothing on it is loading. */
export async function open(page: Page, address: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(address)}`)
  await settled(page)
}

export async function settled(page: Page): Promise<void> {
  await page.locator('main h1').first().waitFor()
  await until(page, `document.querySelector('.loading, .stale') === null`)
}

/** Machines that are busy with other tests may take long. */
const patienceMs = 180_000
/** Asking takes three processes a few milliseconds. Done all the time, it keeps the page from loading. */
const pauseMs = 150

/** The policy of the page lets no script be made of text later on, so the asking is done from here. */
export async function until(page: Page, claim: string): Promise<void> {
  await eventually(claim, async () => (await page.evaluate(claim)) === true, patienceMs, pauseMs)
}
