// `npm run screenshots`: pictures of the dashboard for the documents, of the demo's figures.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { openShowcase, type Showcase } from './demo/showcase.ts'
import { launchBrowser, open, settled, signIn, visit, type Size } from '../tests/browser/browser.ts'
import { serveCreditedAd } from '../tests/browser/credited-ad.ts'

interface Picture {
  readonly name: string
  readonly key: 'advertiserKey' | 'adminKey' | 'agencyKey'
  readonly address: string
  readonly size: Size
  readonly colorScheme: 'light' | 'dark'
  /** What is done on the page before the picture. */
  readonly prepare?: (page: Page, showcase: Showcase) => Promise<void>
}

const pictures: readonly Picture[] = [
  {
    name: 'performance',
    key: 'advertiserKey',
    address: '#/advertisers/1/performance?currency=EUR&chart=IMPRESSIONS,CLICKS',
    size: 'desktop',
    colorScheme: 'light',
  },
  {
    name: 'profiles-dark',
    key: 'advertiserKey',
    address: '#/advertisers/1/performance?currency=EUR&compare=profiles',
    size: 'desktop',
    colorScheme: 'dark',
  },
  {
    name: 'performance-phone',
    key: 'advertiserKey',
    address: '#/advertisers/1/performance?currency=EUR',
    size: 'phone',
    colorScheme: 'light',
  },
  {
    name: 'live',
    key: 'adminKey',
    address: '#/operator/live',
    size: 'desktop',
    colorScheme: 'light',
  },
  ...(
    [
      ['product', '#/advertisers/1/products/2940000000007'],
      ['purchases', '#/advertisers/1/purchases'],
      ['placements', '#/advertisers/1/placements'],
      ['assets', '#/advertisers/1/assets'],
    ] as const
  ).map(([name, address]) => onDesktop('advertiserKey', name, address)),
  onDesktop('agencyKey', 'overview', '#/overview?period=last-7'),
  ...(['traffic', 'to-look-at', 'catalog', 'keys', 'lookup'] as const).map((name) =>
    onDesktop('adminKey', name, `#/operator/${name}`)
  ),
  // The last one: it adds an ad and a purchase to the demo.
  { ...onDesktop('adminKey', 'link', '#/operator/link'), prepare: lookUpLink },
]

async function lookUpLink(page: Page, { url, adminKey }: Showcase): Promise<void> {
  const where = { campaignUrl: url, adminKey }
  const advertised = { gtin: '2940000000007', adGroupId: 5_101 }
  const { trackingData, transactionId } = await serveCreditedAd(where, advertised)
  await page.getByLabel('Link or tracking data').fill(`https://track.example/click/${trackingData}`)
  await page.getByRole('button', { name: 'Look up' }).click()
  await page.getByRole('link', { name: transactionId }).waitFor()
  await settled(page)
}

function onDesktop(key: Picture['key'], name: string, address: string): Picture {
  return { name, key, address, size: 'desktop', colorScheme: 'light' }
}

interface Studio {
  readonly browser: Browser
  readonly showcase: Showcase
  readonly agencyKey: string
  readonly folder: string
}

await takeAll(process.argv[2] ?? 'docs/images')

async function takeAll(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true })
  const showcase = await openShowcase({ shoppers: 300, days: 56, adsPerDay: 1_200 })
  const browser = await launchBrowser()
  try {
    const agencyKey = await createAgencyKey(showcase)
    for (const picture of pictures) await take({ browser, showcase, agencyKey, folder }, picture)
  } finally {
    await browser.close()
    await showcase.close()
  }
}

/** Of someone who looks after all advertisers of the demo. */
async function createAgencyKey({ url, adminKey }: Showcase): Promise<string> {
  const response = await fetch(`${url}/admin/v1/keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Agency', advertisers: [1, 2, 3], scopes: ['report:read'] }),
  })
  const { key } = (await response.json()) as { readonly key: string }
  return key
}

async function take(studio: Studio, picture: Picture): Promise<void> {
  const { browser, showcase, agencyKey, folder } = studio
  const { size, colorScheme, name, prepare } = picture
  const { page, context } = await visit({ browser, url: showcase.url, size, colorScheme })
  await signIn(page, { ...showcase, agencyKey }[picture.key])
  await open(page, picture.address)
  await prepare?.(page, showcase)
  await page.screenshot({ path: join(folder, `dashboard-${name}.png`) })
  await context.close()
}
