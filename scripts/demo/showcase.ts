// The demo's service with weeks behind it: what pictures are taken of and the dashboard is tested on.
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HttpClient } from './http.ts'
import type { DemoOptions } from './options.ts'
import { Progress } from './progress.ts'
import { runDemo } from './run.ts'
import { freePort } from '../free-port.ts'
import { Service } from './service.ts'

// Weeks of events are stored and attributed at once, beside whatever else the machine does.
const answerMsMax = 120_000

/** What a reader of the shown advertiser gets from its operator. */
export interface Invited {
  readonly advertiserKey: string
  /** Below the address: signs a reader of the advertiser in, once. */
  readonly signInAddress: string
}

export interface Showcase extends Invited {
  readonly url: string
  readonly adminKey: string
  close(): Promise<void>
}

export type ShowcasePlan = Pick<DemoOptions, 'shoppers' | 'days' | 'adsPerDay'>

/** Throws when the demo's own check fails: figures that are wrong are not worth showing. */
export async function openShowcase(plan: ShowcasePlan): Promise<Showcase> {
  return await openIn(await newFolder(), (running) => fill(plan, running))
}

/** Plays the demo into a folder, which is there for copies when its service has stopped. */
export async function playDemo(plan: ShowcasePlan, dataDir: string): Promise<Invited> {
  const running = await start(dataDir)
  try {
    return await fill(plan, running)
  } finally {
    await running.stop()
  }
}

/** A showcase of its own for a third of the work of playing the demo. */
export async function openCopy(played: string, invited: Invited): Promise<Showcase> {
  const dataDir = await newFolder()
  await cp(played, dataDir, { recursive: true })
  return await openIn(dataDir, () => invited)
}

async function newFolder(): Promise<string> {
  return await mkdtemp(join(tmpdir(), 'shelftrace-showcase-'))
}

async function openIn(
  dataDir: string,
  prepare: (running: Running) => Invited | Promise<Invited>
): Promise<Showcase> {
  const running = await start(dataDir)
  const close = async () => {
    await running.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
  try {
    const invited = await prepare(running)
    const adminKey = await running.service.ready(running.http)
    return { ...invited, url: running.service.campaignUrl, adminKey, close }
  } catch (error) {
    await close()
    throw error
  }
}

interface Running {
  readonly service: Service
  readonly http: HttpClient
  stop(): Promise<void>
}

async function start(dataDir: string): Promise<Running> {
  const http = new HttpClient(answerMsMax)
  const service = new Service({
    dataDir,
    trackingPort: await freePort(),
    campaignPort: await freePort(),
  })
  const stop = async () => {
    await service.stop()
    http.close()
  }
  return { service, http, stop }
}

async function fill(plan: ShowcasePlan, { service, http }: Running): Promise<Invited> {
  const progress = new Progress(process.stderr)
  const options = {
    ...plan,
    once: true,
    seed: 7,
    trackingPort: null,
    campaignPort: null,
    dataDir: null,
  }
  const { isPassed, advertiserKey, signInAddress } = await runDemo({
    options,
    service,
    http,
    progress,
  })
  progress.close()
  if (!isPassed) throw service.fault('the demo found figures that are wrong')
  return { advertiserKey, signInAddress }
}
