// `npm run screenshots`: pictures of the dashboard for the documents, of the demo's figures.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { openShowcase, type Showcase } from './demo/showcase.ts'
import { launchBrowser, open, signIn, visit, type Size } from '../tests/browser/browser.ts'

interface Picture {
  readonly name: string
  readonly key: 'advertiserKey' | 'adminKey'
  readonly address: string
  readonly size: Size
  readonly colorScheme: 'light' | 'dark'
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
  ...(['traffic', 'to-look-at', 'catalog', 'keys', 'lookup'] as const).map((name) =>
    onDesktop('adminKey', name, `#/operator/${name}`)
  ),
]

function onDesktop(key: Picture['key'], name: string, address: string): Picture {
  return { name, key, address, size: 'desktop', colorScheme: 'light' }
}

interface Studio {
  readonly browser: Browser
  readonly showcase: Showcase
  readonly folder: string
}

await takeAll(process.argv[2] ?? 'docs/images')

async function takeAll(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true })
  const showcase = await openShowcase({ shoppers: 300, days: 56, adsPerDay: 1_200 })
  const browser = await launchBrowser()
  try {
    for (const picture of pictures) await take({ browser, showcase, folder }, picture)
  } finally {
    await browser.close()
    await showcase.close()
  }
}

async function take({ browser, showcase, folder }: Studio, picture: Picture): Promise<void> {
  const { size, colorScheme, name } = picture
  const { page, context } = await visit({ browser, url: showcase.url, size, colorScheme })
  await signIn(page, showcase[picture.key])
  await open(page, picture.address)
  await page.screenshot({ path: join(folder, `dashboard-${name}.png`) })
  await context.close()
}
