// The demo's service with weeks behind it: what pictures are taken of and the dashboard is tested on.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HttpClient } from './http.ts'
import type { DemoOptions } from './options.ts'
import { Progress } from './progress.ts'
import { runDemo } from './run.ts'
import { Service, findPort } from './service.ts'

// Weeks of events are stored and attributed at once, beside whatever else the machine does.
const answerMsMax = 120_000

export interface Showcase {
  readonly url: string
  readonly adminKey: string
  readonly advertiserKey: string
  /** Below the address: signs a reader of the advertiser in, once. */
  readonly signInAddress: string
  close(): Promise<void>
}

export type ShowcasePlan = Pick<DemoOptions, 'shoppers' | 'days' | 'adsPerDay'>

/** Throws when the demo's own check fails: figures that are wrong are not worth showing. */
export async function openShowcase(plan: ShowcasePlan): Promise<Showcase> {
  const dataDir = await mkdtemp(join(tmpdir(), 'shelftrace-showcase-'))
  const http = new HttpClient(answerMsMax)
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
    const { advertiserKey, signInAddress } = await fill({ plan, service, http })
    const adminKey = await service.ready(http)
    return { url: service.campaignUrl, adminKey, advertiserKey, signInAddress, close }
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
    ...plan,
    once: true,
    seed: 7,
    trackingPort: null,
    campaignPort: null,
    dataDir: null,
  }
  const result = await runDemo({ options, service, http, progress })
  progress.close()
  if (!result.isPassed) throw service.fault('the demo found figures that are wrong')
  return result
}
