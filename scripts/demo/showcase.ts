// The demo's service with weeks behind it: what pictures are taken of and the dashboard is tested on.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Admin } from './admin.ts'
import { playHistory } from './history.ts'
import { HttpClient } from './http.ts'
import { Progress } from './progress.ts'
import { runDemo } from './run.ts'
import { Service, findPort } from './service.ts'

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
  const http = new HttpClient()
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
  await playHistory({ ...plan, admin, http, campaignUrl, adminKey, nowMs: Date.now() })
  return result
}
