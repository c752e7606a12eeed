// Weeks before today, backfilled: what a chart needs and shoppers of the moment cannot leave behind.
import type { Admin } from './admin.ts'
import {
  adGroups,
  amountText,
  markets,
  publishers,
  shownAdvertiserId,
  type AdGroup,
} from './catalog.ts'
import type { HttpClient } from './http.ts'
import { DemoError, describeAnswer } from './failures.ts'
import { objectsIn, parseObject, textIn } from './json.ts'
import { products, type DemoProduct } from './products.ts'
import { Random } from './random.ts'

const dayMs = 86_400_000
const linksMax = 1_000
/** A browser of today: clicks of programs do not count. */
const userAgent =
  'Mozilla/5.0 (X11; Linux x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36'

export interface HistoryPlan {
  readonly admin: Admin
  readonly http: HttpClient
  readonly campaignUrl: string
  readonly adminKey: string
  readonly days: number
  readonly adsPerDay: number
  readonly nowMs: number
}

interface Visit {
  readonly link: object
  readonly servedAtMs: number
  readonly isClicked: boolean
  readonly purchase: object | null
  readonly purchasedAtMs: number
}

/** Plays the days before yesterday; how many purchases are in them, once the service has stored them. */
export async function playHistory(plan: HistoryPlan): Promise<number> {
  const random = new Random(20_260_301)
  const visits = Array.from({ length: plan.days }, (_, index) => plan.days + 1 - index).flatMap(
    (daysAgo) => planDay(plan, daysAgo, random)
  )
  const lines: string[] = []
  for (let start = 0; start < visits.length; start += linksMax) {
    const batch = visits.slice(start, start + linksMax)
    const answer = await plan.admin.call({
      method: 'POST',
      path: '/admin/v1/tracking-links',
      json: { links: batch.map(({ link }) => link) },
      status: 200,
    })
    const minted = objectsIn(answer, 'links')
    batch.forEach((visit, index) => {
      const link = minted[index]
      if (link !== undefined) lines.push(...linesOf(visit, textIn(link, 'trackingData')))
    })
  }
  await backfill(plan, lines)
  return visits.filter(({ purchase }) => purchase !== null).length
}

/** Weekends are busier, and the weeks rise slowly. */
function planDay(plan: HistoryPlan, daysAgo: number, random: Random): readonly Visit[] {
  const midnightMs = Math.floor(plan.nowMs / dayMs) * dayMs - daysAgo * dayMs
  const weekday = new Date(midnightMs).getUTCDay()
  const rise = 1 + (0.6 * (plan.days - daysAgo)) / plan.days
  const busyness =
    (weekday === 0 || weekday === 6 ? 1.35 : 1) * rise * (0.85 + random.fraction() / 3)
  const count = Math.round(plan.adsPerDay * busyness)
  return Array.from({ length: count }, (_, index) =>
    planVisit({ random, midnightMs, name: `${daysAgo}-${index}` })
  )
}

interface VisitPlan {
  readonly random: Random
  readonly midnightMs: number
  readonly name: string
}

function planVisit({ random, midnightMs, name }: VisitPlan): Visit {
  const own = products.filter((one) => one.advertiserId === shownAdvertiserId && one.isAdvertised)
  const product = random.pick(own.slice(0, random.chance(0.6) ? 5 : own.length))
  const adGroup = random.pick(adGroupsOf(product))
  const market = random.pick(random.chance(0.7) ? markets.slice(0, 1) : markets)
  const open = publishers.filter(({ sites }) => sites.some((site) => isIn(site, market.id)))
  const publisher = random.pick(open)
  const sites: readonly Site[] = publisher.sites
  const site = random.pick(sites.filter((one) => isIn(one, market.id)))
  const servedAtMs = midnightMs + random.between(5 * 3_600, 22 * 3_600) * 1_000
  const isClicked = random.chance(adGroup.type === 'DISPLAY' ? 0.03 : 0.11)
  const isBought = random.chance(isClicked ? 0.22 : 0.012)
  const userId = `past-${name}`
  const cents = product.cents + random.between(-30, 30)
  return {
    servedAtMs,
    isClicked,
    purchasedAtMs: servedAtMs + random.between(10, 90) * 60_000,
    link: {
      publisherId: publisher.id,
      siteId: site.id,
      marketId: market.id,
      advertiserId: shownAdvertiserId,
      campaignId: adGroup.campaignId,
      adGroupId: adGroup.id,
      gtin: product.gtin,
      groupId: product.groupId,
      userId,
      costPerClick: amountText(adGroup.clickCents, market),
      costPerMille: amountText(adGroup.milleCents, market),
      servedAt: new Date(servedAtMs).toISOString(),
    },
    purchase: isBought
      ? {
          user_id: userId,
          transaction_id: `past-${name}`,
          site_id: site.id,
          publisher_id: publisher.id,
          currency: market.currency,
          products: [
            {
              gtin: product.gtin,
              price: Number(amountText(cents, market)),
              quantity: random.between(1, 3),
            },
          ],
        }
      : null,
  }
}

interface Site {
  readonly id: number
  readonly marketIds: readonly number[]
}

function isIn({ marketIds }: Site, marketId: number): boolean {
  return marketIds.includes(marketId)
}

function adGroupsOf(product: DemoProduct): readonly AdGroup[] {
  return adGroups.filter(
    ({ advertiserId, lines }) =>
      advertiserId === product.advertiserId && lines.includes(product.line % 4)
  )
}

function linesOf(visit: Visit, trackingData: string): readonly string[] {
  const { servedAtMs, isClicked, purchase, purchasedAtMs } = visit
  const event = (type: string, seconds: number) =>
    JSON.stringify({
      type,
      trackingData,
      receivedAt: new Date(servedAtMs + seconds * 1_000).toISOString(),
      userAgent,
    })
  return [
    event('load', 1),
    event('impression', 2),
    ...(isClicked ? [event('click', 9)] : []),
    ...(purchase === null
      ? []
      : [
          JSON.stringify({
            type: 'conversion',
            receivedAt: new Date(purchasedAtMs).toISOString(),
            conversion: purchase,
          }),
        ]),
  ]
}

async function backfill(plan: HistoryPlan, lines: readonly string[]): Promise<void> {
  const answer = await plan.http.send({
    method: 'POST',
    url: `${plan.campaignUrl}/admin/v1/events`,
    headers: {
      authorization: `Bearer ${plan.adminKey}`,
      'content-type': 'application/x-ndjson',
    },
    body: `${lines.join('\n')}\n`,
  })
  const isWhole = answer.status === 200 && parseObject(answer.body)['accepted'] === lines.length
  if (!isWhole) throw new DemoError(`the backfill was not taken: ${describeAnswer(answer)}`)
}
