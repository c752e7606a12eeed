// The demo's service with weeks behind it: what pictures are taken of and the dashboard is tested on.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Admin } from './admin.ts'
import { shownAdvertiserId } from './catalog.ts'
import { DemoError } from './failures.ts'
import { playHistory } from './history.ts'
import { HttpClient } from './http.ts'
import { objectsIn, textIn } from './json.ts'
import { Progress } from './progress.ts'
import { runDemo } from './run.ts'
import { Service, findPort } from './service.ts'

// Weeks of events are stored and attributed at once, beside whatever else the machine does.
const patience = { tries: 600, pauseMs: 1_000, answerMs: 120_000 } as const

export interface Showcase {
  readonly url: string
  readonly adminKey: string
  readonly advertiserKey: string
  close(): Promise<void>
}

export interface ShowcasePlan {
  readonly shoppers: number
  readonly days: number
  readonly adsPerDay: number
}

/** Throws when the demo's own check fails: figures that are wrong are not worth showing. */
export async function openShowcase(plan: ShowcasePlan): Promise<Showcase> {
  const dataDir = await mkdtemp(join(tmpdir(), 'shelftrace-showcase-'))
  const http = new HttpClient(patience.answerMs)
  const service = new Service({
    dataDir,
    trackingPort: await findPort(0, 0),
    campaignPort: await findPort(0, 0),
  })
  const close = async () => {
    await service.stop()
    http.close()
    await rm(dataDir, { recursive: true, force: true })
  }
  try {
    const { advertiserKey } = await fill({ plan, service, http })
    const adminKey = await service.ready(http)
    return { url: service.campaignUrl, adminKey, advertiserKey, close }
  } catch (error) {
    await close()
    throw error
  }
}

interface Fill {
  readonly plan: ShowcasePlan
  readonly service: Service
  readonly http: HttpClient
}

async function fill({ plan, service, http }: Fill) {
  const progress = new Progress(process.stderr)
  const options = {
    once: true,
    shoppers: plan.shoppers,
    seed: 7,
    trackingPort: null,
    campaignPort: null,
    dataDir: null,
  }
  const result = await runDemo({ options, service, http, progress })
  progress.close()
  if (!result.isPassed) throw service.fault('the demo found figures that are wrong')
  const adminKey = await service.ready(http)
  const { campaignUrl } = service
  const admin = new Admin({ http, baseUrl: campaignUrl, key: adminKey })
  const nowMs = Date.now()
  const purchaseCount = await playHistory({ ...plan, admin, http, campaignUrl, adminKey, nowMs })
  await waitForCredit({ admin, purchaseCount, nowMs, days: plan.days })
  return result
}

interface Credit {
  readonly admin: Admin
  readonly purchaseCount: number
  readonly nowMs: number
  readonly days: number
}

/** Nearly all: a purchase around midnight may stand on a day that is left out. */
async function waitForCredit({ admin, purchaseCount, nowMs, days }: Credit): Promise<void> {
  const dayText = (daysAgo: number) =>
    new Date(nowMs - daysAgo * 86_400_000).toISOString().slice(0, 10)
  const json = { startDate: dayText(days + 3), endDate: dayText(1) }
  const path = `/v2/advertisers/${shownAdvertiserId}/reports/spa/series.json`
  for (let tried = 0; tried < patience.tries; tried += 1) {
    const answer = await admin.call({ method: 'POST', path, json, status: 200 })
    const credited = objectsIn(answer, 'totals').reduce(
      (sum, total) => sum + Number(textIn(total, 'CONVERSIONS')),
      0
    )
    if (credited >= purchaseCount * 0.95) return
    await sleep(patience.pauseMs)
  }
  throw new DemoError('the purchases of the past were not credited in time')
}
