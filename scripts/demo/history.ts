// Loads the weeks before today into the service as an operator would: links minted with past instants, events
// backfilled from lines of JSON.
import type { Admin } from './admin.ts'
import type { AdEventKind, AdFire, ServedAd } from './expectation.ts'
import { DemoError } from './failures.ts'
import type { PastPurchase, Visit } from './history-plan.ts'
import { countIn, objectsIn, parseObject, textIn } from './json.ts'
import { conversionBody } from './requests.ts'
import type { Delivery } from './sales.ts'

const limits = { linksMax: 1_000, linesMax: 20_000 } as const
const userAgent =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36'

export interface PlayedHistory {
  readonly fires: readonly AdFire[]
  readonly deliveries: readonly Delivery[]
}

/** Everything that was loaded, for the expectation. */
export async function loadHistory(
  admin: Admin,
  visits: readonly Visit[],
  onProgress: (done: number) => void
): Promise<PlayedHistory> {
  const fires: AdFire[] = []
  const deliveries: Delivery[] = []
  let lines: string[] = []
  for (let start = 0; start < visits.length; start += limits.linksMax) {
    const batch = visits.slice(start, start + limits.linksMax)
    for (const [visit, minted] of await mint(admin, batch)) {
      for (const fire of firesOf(visit, minted.served)) {
        fires.push(fire)
        lines.push(eventLine(fire, minted.trackingData))
      }
      if (visit.purchase !== null) {
        deliveries.push(visit.purchase)
        lines.push(purchaseLine(visit.purchase))
      }
    }
    if (lines.length >= limits.linesMax) {
      await backfill(admin, lines)
      lines = []
    }
    onProgress(start + batch.length)
  }
  if (lines.length > 0) await backfill(admin, lines)
  return { fires, deliveries }
}

interface Minted {
  readonly served: ServedAd
  readonly trackingData: string
}

async function mint(admin: Admin, visits: readonly Visit[]) {
  const answer = await admin.call({
    method: 'POST',
    path: '/admin/v1/tracking-links',
    json: {
      links: visits.map(({ request, servedAtMs }) => ({
        ...request,
        servedAt: new Date(servedAtMs).toISOString(),
      })),
    },
    status: 200,
  })
  const links = objectsIn(answer, 'links')
  return visits.map((visit, index): readonly [Visit, Minted] => {
    const link = links[index]
    if (link === undefined) throw new DemoError('a link is missing from the answer')
    const servedAdId = textIn(link, 'servedAdId').toLowerCase()
    const served = { ...visit.request, servedAdId, servedAtMs: visit.servedAtMs }
    return [visit, { served, trackingData: textIn(link, 'trackingData') }]
  })
}

function firesOf({ servedAtMs, viewedAtMs, clickedAtMs }: Visit, ad: ServedAd): readonly AdFire[] {
  const fire = (kind: AdEventKind, atMs: number): AdFire => ({ kind, ad, atMs, visitor: 'person' })
  return [
    fire('load', servedAtMs),
    fire('impression', viewedAtMs),
    ...(clickedAtMs === null ? [] : [fire('click', clickedAtMs)]),
  ]
}

function eventLine({ kind, atMs }: AdFire, trackingData: string): string {
  return JSON.stringify({
    type: kind,
    trackingData,
    receivedAt: new Date(atMs).toISOString(),
    userAgent,
  })
}

function purchaseLine(purchase: PastPurchase): string {
  return JSON.stringify({
    type: 'conversion',
    receivedAt: new Date(purchase.atMs).toISOString(),
    conversion: conversionBody(purchase),
  })
}

async function backfill(admin: Admin, lines: readonly string[]): Promise<void> {
  const { body } = await admin.answer({
    method: 'POST',
    path: '/admin/v1/events',
    ndjson: `${lines.join('\n')}\n`,
    status: 200,
  })
  const accepted = countIn(parseObject(body), 'accepted')
  if (accepted !== lines.length) {
    throw new DemoError(
      `${lines.length} events of the past were sent, ${accepted} accepted: ${body}`
    )
  }
}
