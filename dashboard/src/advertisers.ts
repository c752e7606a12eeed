// The advertisers that the key may read, for pages and choices about several of them.
import type { AdvertiserEntry, PublisherEntry } from '../../src/contract/catalog-bundle.ts'
import type { JsonSummary } from '../../src/contract/report-json.ts'
import type { SummaryBody } from '../../src/contract/summary-request.ts'
import { anyCase } from '../../src/domain/any-case.ts'
import type { Api } from './api.ts'
import { t } from './language.ts'
import { latestOf, useLoaded, type Loaded } from './loaded.ts'
import { isAllowed, useSession } from './session.ts'
import { openKept } from './storage.ts'

export interface Advertiser {
  readonly id: number
  readonly name: string | null
}

/** None where there are more than a list may offer, or where the key may read no reports. */
export function useAdvertisers(): Loaded<readonly Advertiser[]> {
  const { api, me } = useSession()
  return useLoaded(`advertisers ${me.scopes.join(' ')}`, async (signal) => {
    if (me.advertisers !== 'all') return me.advertisers
    if (isAllowed(me, 'admin')) return await listAll(api, 'advertisers', signal)
    return isAllowed(me, 'report:read') ? await listByOverview(api, signal) : []
  })
}

/** As many as a key may list: who may read more chooses by the id. */
const advertisersMax = 10_000

interface EntryPage {
  readonly entries: readonly (AdvertiserEntry | PublisherEntry)[]
  readonly next: string | null
}

async function listAll(
  api: Api,
  kind: 'advertisers' | 'publishers',
  signal: AbortSignal
): Promise<readonly Advertiser[]> {
  const found: Advertiser[] = []
  let after = ''
  do {
    const path = `admin/v1/catalog/${kind}?limit=1000${after}`
    const { entries, next } = await api.get<EntryPage>(path, signal)
    found.push(...entries)
    after = next === null ? '' : `&after=${encodeURIComponent(next)}`
  } while (after !== '' && found.length < advertisersMax)
  return after === '' ? found : []
}

/** Before the first event there can be: of this day nothing is added up. */
const emptyDay = '2019-12-01'

/** The catalog is for operators alone; the overview names everybody whose reports the key may read. */
async function listByOverview(api: Api, signal: AbortSignal): Promise<readonly Advertiser[]> {
  const question = { startDate: emptyDay, endDate: emptyDay }
  const { summaries, isWhole } = await readSummaries(api, question, signal)
  return isWhole ? summaries.map(({ id, name }) => ({ id, name })) : []
}

export type SummaryQuestion = Omit<SummaryBody, 'advertiserIds' | 'after' | 'limit'>

export interface Summaries {
  readonly summaries: JsonSummary['advertisers']
  /** False if there are more than these. */
  readonly isWhole: boolean
}

/** The totals of all advertisers of the key, page after page. A key that lists its advertisers has all of them here. */
export async function readSummaries(
  api: Api,
  question: SummaryQuestion,
  signal: AbortSignal
): Promise<Summaries> {
  const summaries: JsonSummary['advertisers'][number][] = []
  let next: number | undefined
  do {
    const body: SummaryBody = { ...question, ...(next !== undefined && { after: next }) }
    const answer = await api.post<JsonSummary>('v2/reports/spa/summary.json', body, signal)
    summaries.push(...answer.advertisers)
    ;({ next } = answer)
  } while (next !== undefined && summaries.length < advertisersMax)
  return { summaries, isWhole: next === undefined }
}

/** What the catalog calls a publisher; its id until that is known, and where the catalog has none of this id. */
export function usePublisherNames(): (id: number) => string {
  const { api } = useSession()
  const publishers = useLoaded('publishers', (signal) => listAll(api, 'publishers', signal))
  const names = new Map(latestOf(publishers)?.map(({ id, name }) => [id, name]))
  return (id) => names.get(id) ?? String(id)
}

export function nameOf({ id, name }: Advertiser): string {
  return name ?? t('Advertiser {{id}}', { id: String(id) })
}

const kept = openKept('localStorage', 'shelftrace.recent-advertisers')
const recentMax = 5

/** The ids of those that were opened last, the last one first. */
export function readRecent(): readonly number[] {
  try {
    const ids: unknown = JSON.parse(kept.read() ?? '[]')
    return Array.isArray(ids) ? ids.filter((id): id is number => Number.isInteger(id)) : []
  } catch {
    // Somebody else wrote it.
    return []
  }
}

export function noteRecent(id: number): void {
  const others = readRecent().filter((one) => one !== id)
  kept.keep(JSON.stringify([id, ...others].slice(0, recentMax)))
}

/** Those that match, the ones that were opened last first, then by name. */
export function findAdvertisers(
  advertisers: readonly Advertiser[],
  text: string,
  recent: readonly number[]
): readonly Advertiser[] {
  const wanted = anyCase(text.trim())
  const place = ({ id }: Advertiser) => {
    const known = recent.indexOf(id)
    return known === -1 ? recent.length : known
  }
  return advertisers
    .filter((one) => anyCase(nameOf(one)).includes(wanted) || String(one.id) === wanted)
    .toSorted((one, other) => place(one) - place(other) || nameOf(one).localeCompare(nameOf(other)))
}
