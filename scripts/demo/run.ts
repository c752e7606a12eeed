import { Admin, createKey, inviteReader } from './admin.ts'
import { assets, adGroups, buildBundle, creativeSizes, shownAdvertiserId } from './catalog.ts'
import { checkReports, dayRangeAround, type CheckedReport } from './check.ts'
import { expectReports } from './expectation.ts'
import { Failures } from './failures.ts'
import type { HttpClient } from './http.ts'
import { planJourneys } from './journeys.ts'
import { loadHistory, type PlayedHistory } from './history.ts'
import { planHistory } from './history-plan.ts'
import { mintAds } from './minting.ts'
import type { DemoOptions } from './options.ts'
import { Player } from './player.ts'
import type { Progress } from './progress.ts'
import type { Service } from './service.ts'
import { playedText, resultText, type DemoResult } from './texts.ts'

export interface DemoContext {
  readonly options: DemoOptions
  readonly service: Service
  readonly http: HttpClient
  readonly progress: Progress
}

export async function runDemo(context: DemoContext): Promise<DemoResult> {
  const { options, service, http, progress } = context
  progress.done('starting the service')
  const admin = new Admin({ http, baseUrl: service.campaignUrl, key: await service.ready(http) })
  const keys = await prepareWorld({ admin, context })

  const past = await playPast(context, admin)
  const { played, failures } = await playShoppers(context, keys.mint)
  const happened = {
    fires: [...past.fires, ...played.fires],
    deliveries: [...past.deliveries, ...played.deliveries],
    returns: played.returns,
  }

  const range = dayRangeAround(Date.now(), options.days)
  const startedAtMs = Date.now()
  const checked = await checkReports(
    { admin: adminOf(context, keys.reader), range, reports: expectReports(happened) },
    (text) => progress.update(`attributing: ${text}`)
  )
  progress.done(`reports read after ${seconds(startedAtMs)}`)

  const status = await admin.call({ method: 'GET', path: '/admin/v1/status', status: 200 })
  const isPassed = failures.count === 0 && checked.every(isEqual)
  console.log(playedText(played, status))
  console.log(resultText({ checked, failures, isPassed, seed: options.seed }))
  const signInAddress = await inviteReader(admin, {
    name: 'demo dashboard',
    advertisers: [shownAdvertiserId],
    scopes: ['report:read', 'asset:write', 'site:read'],
  })
  return { isPassed, advertiserKey: keys.advertiser, signInAddress, range }
}

function isEqual({ comparison }: CheckedReport): boolean {
  return comparison.differences.length === 0
}

interface Keys {
  readonly advertiser: string
  readonly mint: string
  readonly reader: string
}

/** The catalog, the keys, and one use of each of the advertiser's operations beside the report. */
async function prepareWorld({
  admin,
  context,
}: {
  admin: Admin
  context: DemoContext
}): Promise<Keys> {
  await admin.answer({ method: 'PUT', path: '/admin/v1/catalog', json: buildBundle(), status: 200 })
  const keys = {
    advertiser: await createKey(admin, {
      name: 'demo advertiser',
      advertisers: [shownAdvertiserId],
      scopes: ['report:read', 'asset:write', 'site:read'],
    }),
    mint: await createKey(admin, {
      name: 'demo ad server',
      advertisers: 'all',
      scopes: ['link:mint'],
    }),
    reader: await createKey(admin, {
      name: 'demo check',
      advertisers: 'all',
      scopes: ['report:read'],
    }),
  }
  await visitAsAdvertiser(adminOf(context, keys.advertiser))
  context.progress.done('catalog and keys are in place')
  return keys
}

async function visitAsAdvertiser(advertiser: Admin): Promise<void> {
  const display = adGroups.find(
    ({ advertiserId, type }) => advertiserId === shownAdvertiserId && type === 'DISPLAY'
  )
  const asset = assets.find(({ advertiserId }) => advertiserId === shownAdvertiserId)
  const size = creativeSizes.find(({ width }) => width === asset?.width)
  if (display === undefined || asset === undefined || size === undefined) {
    throw new Error("the demo's catalog has nothing to show")
  }
  const base = `/v2/advertisers/${shownAdvertiserId}`
  await advertiser.answer({
    method: 'POST',
    path: `/display${base}/campaigns/${display.campaignId}/display/ad-groups/${display.id}/assets`,
    json: { creativeSizeId: size.id, assetId: asset.id },
    status: 201,
  })
  await advertiser.answer({
    method: 'GET',
    path: `${base}/eligible/site-locations?publisherId=10&marketId=1&adGroupType=SPA`,
    status: 200,
  })
}

/** A quarter of an hour is left to the shoppers of now. */
async function playPast(context: DemoContext, admin: Admin): Promise<PlayedHistory> {
  const { options, progress } = context
  const { seed, days, adsPerDay } = options
  const visits = planHistory({ seed, days, adsPerDay, untilMs: Date.now() - 15 * 60_000 })
  const startedAtMs = Date.now()
  const played = await loadHistory(admin, visits, (done) =>
    progress.update(`loading the history: ${done} of ${visits.length} ads`)
  )
  const { fires, deliveries } = played
  if (days > 0) {
    progress.done(
      `${fires.length + deliveries.length} events of ${days} days are loaded in ${seconds(startedAtMs)}`
    )
  }
  return played
}

async function playShoppers(context: DemoContext, mintKey: string) {
  const { options, service, http, progress } = context
  const journeys = planJourneys(options)
  const adCount = journeys.reduce((sum, { ads }) => sum + ads.length, 0)
  const minted = await mintAds(adminOf(context, mintKey), journeys, (done) =>
    progress.update(`serving ads: ${done} of ${adCount}`)
  )
  progress.done(`${adCount} ads are served`)

  const startedAtMs = Date.now()
  const failures = new Failures()
  const player = new Player({ http, trackingUrl: service.trackingUrl, minted, failures })
  await player.play(journeys, (done, requests) =>
    progress.update(`playing: ${done} of ${journeys.length} shoppers, ${requests} requests`)
  )
  progress.done(`${player.requestCount} requests in ${seconds(startedAtMs)}`)
  return { played: player.played, failures }
}

function adminOf({ http, service }: DemoContext, key: string): Admin {
  return new Admin({ http, baseUrl: service.campaignUrl, key })
}

function seconds(sinceMs: number): string {
  return `${((Date.now() - sinceMs) / 1_000).toFixed(1)} s`
}
