// `npm run demo`: starts the service, plays shoppers over HTTP, works out apart from the service what
// the reports must say, and compares. Standard output is the result, standard error the progress.
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { DemoError } from './demo/failures.ts'
import { HttpClient } from './demo/http.ts'
import { UsageError, parseOptions, usage, type DemoOptions } from './demo/options.ts'
import { Progress } from './demo/progress.ts'
import { runDemo } from './demo/run.ts'
import { Service, findPort } from './demo/service.ts'
import { stillRunning, type DemoResult } from './demo/texts.ts'

const ports = { tracking: 8080, campaign: 8081 } as const

// After a Ctrl-C the shoppers that were cut short may still be waiting for something.
process.exit(await main(process.argv.slice(2)))

async function main(args: readonly string[]): Promise<number> {
  try {
    const options = parseOptions(args)
    if (options !== null) return await demo(options)
    console.log(usage)
    return 0
  } catch (error) {
    if (error instanceof UsageError) console.error(`${error.message}\n\n${usage}`)
    else if (error instanceof DemoError) console.error(`demo: ${error.message}`)
    else console.error('demo:', error)
    return error instanceof UsageError ? 2 : 1
  }
}

async function demo(options: DemoOptions): Promise<number> {
  const dataDir = await openDataDir(options.dataDir)
  const http = new HttpClient()
  const progress = new Progress(process.stderr)
  let isSound = false
  try {
    const service = new Service({
      dataDir,
      trackingPort: await findPort(options.trackingPort, ports.tracking),
      campaignPort: await findPort(options.campaignPort, ports.campaign),
    })
    isSound = await withService(service, { options, http, progress })
  } finally {
    http.close()
    await closeDataDir({ dataDir, isTemporary: options.dataDir === null, isSound })
  }
  return isSound ? 0 : 1
}

interface Means {
  readonly options: DemoOptions
  readonly http: HttpClient
  readonly progress: Progress
}

/** Stops the service in every case, and tells whether all was well. */
async function withService(service: Service, means: Means): Promise<boolean> {
  const { options, http, progress } = means
  const asked = askedToStop(service)
  const died = service.exited.then(() => 'died' as const)
  let isSound = false
  try {
    const run = runDemo({ options, service, http, progress })
    run.catch(() => {}) // When the run is cut short its own complaints say nothing new.
    const result = await Promise.race([run, asked, died])
    if (result === 'died') throw service.fault('the service ended by itself')
    isSound = result === 'asked' || result.isPassed
    if (result !== 'asked' && !options.once) await stayOpen({ service, result, asked, died })
  } finally {
    progress.done('stopping the service')
    progress.close()
    const fault = await service.stop()
    // A service that had died before has been complained about already.
    if (fault !== null && isSound) console.error(`demo: ${service.fault(fault).message}`)
    isSound &&= fault === null
  }
  return isSound
}

interface Stay {
  readonly service: Service
  readonly result: DemoResult
  readonly asked: Promise<'asked'>
  readonly died: Promise<'died'>
}

async function stayOpen({ service, result, asked, died }: Stay): Promise<void> {
  console.log(stillRunning(service, result))
  const end = await Promise.race([asked, died])
  if (end === 'died') throw service.fault('the service ended by itself')
}

/** Resolves at the first request to stop; a second one waits for nothing. */
function askedToStop(service: Service): Promise<'asked'> {
  return new Promise((resolveAsked) => {
    let isAsked = false
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => {
        if (isAsked) service.kill()
        isAsked = true
        resolveAsked('asked')
      })
    }
    process.on('exit', () => service.kill())
  })
}

/** A folder that holds events already would add them to the figures, so it must be new or empty. */
async function openDataDir(wanted: string | null): Promise<string> {
  if (wanted === null) return await mkdtemp(join(tmpdir(), 'shelftrace-demo-'))
  const dataDir = resolve(wanted)
  await mkdir(dataDir, { recursive: true })
  if ((await readdir(dataDir)).length > 0) {
    throw new DemoError(`${dataDir} is not empty; the demo needs a new or empty folder`)
  }
  return dataDir
}

interface DataDir {
  readonly dataDir: string
  readonly isTemporary: boolean
  readonly isSound: boolean
}

/** A temporary folder goes with the run, unless it may show what went wrong. */
async function closeDataDir({ dataDir, isTemporary, isSound }: DataDir): Promise<void> {
  const isEmpty = (await readdir(dataDir)).length === 0
  if (isTemporary && (isSound || isEmpty)) await rm(dataDir, { recursive: true, force: true })
  else console.error(`The service's data is kept in ${dataDir}`)
}
