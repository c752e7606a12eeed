// Several people on one key at the dashboard of a large account: `npm run bench:dashboard -- [--ads 300000] [--days 365]
// [--products 5000] [--advertisers 1200] [--people 6] [--only "a year"] [--data folder] [--pictures folder]`. A real service with its
// defaults and the warehouse in process; everybody has a browser profile of their own, and all open a page at once. What
// they are shown is compared with one another and with the answers of the service. The account is kept in `--data`, and
// used again by the next run on the same day.
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { addDays, dayOf } from '../src/domain/day.ts'
import { launchBrowser } from '../tests/browser/browser.ts'
import { compareWithService, openAtOnce, signInAll, type Shown } from '../tests/browser/people.ts'
import { fillLargeAccount } from '../tests/helpers/large-account.ts'
import { largeAdvertiserId } from '../tests/helpers/large-catalog.ts'
import { prepareService, type Service } from '../tests/helpers/service.ts'
import { measureAnswers } from './dashboard-answers.ts'
import { cpuSeconds, memoryMb } from './service-facts.ts'

const { values } = parseArgs({
  options: {
    ads: { type: 'string', default: '300000' },
    days: { type: 'string', default: '365' },
    products: { type: 'string', default: '5000' },
    advertisers: { type: 'string', default: '1200' },
    people: { type: 'string', default: '6' },
    only: { type: 'string', default: '' },
    data: { type: 'string' },
    pictures: { type: 'string' },
  },
})
const size = {
  products: Number(values.products),
  markets: 8,
  days: Number(values.days),
  ads: Number(values.ads),
  advertisers: Number(values.advertisers),
  smallAds: Number(values.advertisers) * 25,
  nowMs: Date.now(),
}
/** Weeks and months are summed while nothing is asked. */
const settleMs = 20_000

const lastDay = addDays(dayOf(size.nowMs, 'UTC'), -1)
const brandPage = `#/advertisers/${largeAdvertiserId}/performance`
const year = `from=${addDays(lastDay, -364)}&to=${lastDay}`
const pages: readonly (readonly [what: string, key: 'brand' | 'agency', address: string])[] = [
  ['default view', 'brand', brandPage],
  ['today included', 'brand', `${brandPage}?today=included`],
  ['by product', 'brand', `${brandPage}?group=products`],
  ['all rows', 'brand', `${brandPage}?group=rows`],
  ['all in EUR', 'brand', `${brandPage}?currency=all-EUR`],
  ['a year', 'brand', `${brandPage}?${year}`],
  ['a year by day', 'brand', `${brandPage}?${year}&by=day`],
  ['a year by product', 'brand', `${brandPage}?${year}&group=products`],
  ['a year by product, in EUR', 'brand', `${brandPage}?${year}&group=products&currency=all-EUR`],
  ['profiles compared', 'brand', `${brandPage}?${year}&compare=profiles`],
  ['purchases', 'brand', `#/advertisers/${largeAdvertiserId}/purchases`],
  ['overview', 'agency', '#/overview'],
  ['overview, all in EUR', 'agency', '#/overview?currency=all-EUR'],
  ['overview, a year', 'agency', `#/overview?${year}`],
]

const closers: (() => Promise<void>)[] = []
try {
  await run()
} finally {
  for (const close of closers.toReversed()) await close()
}

async function run(): Promise<void> {
  const isKept = values.data !== undefined && existsSync(join(values.data, 'admin-key'))
  if (values.data !== undefined) mkdirSync(values.data, { recursive: true })
  const service = await prepareService(
    { after: (close) => closers.push(close) },
    { ...(values.data !== undefined && { dataDir: values.data }) }
  )
  await service.start()
  const startMs = performance.now()
  if (!isKept) {
    await fillLargeAccount(service, size)
    await sleep(settleMs)
  }
  console.log(
    `method: ${JSON.stringify(size)}, made in ${seconds(performance.now() - startMs)}; defaults, warehouse in process,` +
      ` loopback, node ${process.version}; engine at most ${memoryMb(service, 'engine', 'VmHWM').toFixed(0)} MB`
  )
  await measurePages(service)
  if (isWanted('one question after the other')) await measureAnswers(service, lastDay)
}

async function measurePages(service: Service): Promise<void> {
  const browser = await launchBrowser()
  closers.push(() => browser.close())
  const count = Number(values.people)
  console.log(
    `\n${count} people at once            first   last   busy  failures  differ   CPU   engine`
  )
  const ids = Array.from({ length: size.advertisers }, (_, index) => index + 1)
  const keys = {
    brand: await keyFor(service, [largeAdvertiserId]),
    agency: await keyFor(service, ids),
  }
  for (const [what, whose, address] of pages.filter(([name]) => isWanted(name))) {
    const group = { browser, url: service.campaignUrl, key: keys[whose], count }
    const people = await signInAll(group)
    const beforeSeconds = cpuSeconds(service, 'engine')
    const shown = await openAtOnce(people, address)
    const cpu = cpuSeconds(service, 'engine') - beforeSeconds
    const [person, first] = [people[0], shown[0]]
    if (person === undefined || first === undefined) throw new Error('nobody came')
    const others = shown.filter((one) => one.figures.join() !== first.figures.join()).length
    const faults = await compareWithService(person, first, group)
    const sum = (of: (one: Shown) => number) => shown.reduce((total, one) => total + of(one), 0)
    const times = shown.map(({ ms }) => ms)
    console.log(
      [
        what.padEnd(26),
        seconds(Math.min(...times)).padStart(7),
        seconds(Math.max(...times)).padStart(7),
        String(sum(({ busyCount }) => busyCount)).padStart(5),
        String(sum(({ failures }) => failures.length)).padStart(7),
        String(others + faults.length).padStart(8),
        seconds(cpu * 1_000).padStart(8),
        `${memoryMb(service, 'engine', 'VmRSS').toFixed(0)} MB`.padStart(9),
        `${first.figures.length} figures, ${person.questions.length} questions`.padStart(28),
      ].join(' ')
    )
    for (const fault of [...faults, ...shown.flatMap(({ failures }) => failures)]) {
      console.log(`  ${fault.slice(0, 600)}`)
    }
    if (values.pictures !== undefined) {
      const path = join(values.pictures, `${what.replaceAll(/[^a-z]+/giu, '-')}.png`)
      await person.page.screenshot({ path, fullPage: true })
    }
    await Promise.all(people.map(({ context }) => context.close()))
  }
}

function isWanted(name: string): boolean {
  return name.includes(values.only)
}

async function keyFor(service: Service, advertisers: readonly number[]): Promise<string> {
  const request = { name: 'People', advertisers, scopes: ['report:read', 'site:read'] }
  const answer = await service.admin('POST', '/admin/v1/keys', request)
  if (!answer.ok) throw new Error(`key: ${answer.status} ${await answer.text()}`)
  return ((await answer.json()) as { key: string }).key
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`
}
