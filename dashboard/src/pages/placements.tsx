import type { AdvertiserAccount } from '../../../src/contract/me.ts'
import type { Location, SiteLocations } from '../../../src/contract/site-locations.ts'
import { Empty, Stages } from '../components/notices.tsx'
import { Table, type TableColumn } from '../components/table.tsx'
import { useLoaded } from '../loaded.ts'
import type { AdvertiserPageProps } from '../page-table.ts'
import { useAccount } from '../reports.ts'
import { changeQuery } from '../router.ts'
import { useSession } from '../session.ts'
import { wordsOf } from '../words.ts'
import { t } from '../language.ts'

const adGroupTypes = ['SPA', 'DISPLAY', 'SPONSORED_BRAND'] as const

/** Where the advertiser's ads may appear: sites and locations of a publisher in a market. */
export function Placements({ advertiserId, query }: AdvertiserPageProps) {
  const account = useAccount(advertiserId)
  return (
    <>
      <div class="head">
        <h1>{t('Placements')}</h1>
        <p class="muted">{t('Sites and locations where your ads may stand')}</p>
      </div>
      <Stages loaded={account} what={t('the publishers')}>
        {(value) => <Choice account={value} query={query} />}
      </Stages>
    </>
  )
}

interface ChoiceProps {
  readonly account: AdvertiserAccount
  readonly query: URLSearchParams
}

function Choice({ account, query }: ChoiceProps) {
  const { publishers, markets } = account
  const publisher =
    publishers.find(({ id }) => String(id) === query.get('publisher')) ?? publishers[0]
  if (publisher === undefined) return <Empty>{t('You have access to no publisher yet.')}</Empty>
  const open = markets.filter(({ id }) => publisher.marketIds.includes(id))
  const market = open.find(({ id }) => String(id) === query.get('market')) ?? open[0]
  const type = adGroupTypes.find((known) => known === query.get('type')) ?? null
  const change = (changes: Readonly<Record<string, string | null>>) =>
    changeQuery(['advertisers', account.id, 'placements'], query, changes)
  return (
    <>
      <div class="bar">
        <label>
          <span>{t('Publisher')}</span>
          <select
            value={String(publisher.id)}
            onChange={(event) => change({ publisher: event.currentTarget.value, market: null })}
          >
            {publishers.map(({ id, name }) => (
              <option key={id} value={String(id)}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label>
          <span>{t('Market')}</span>
          <select
            value={String(market?.id ?? '')}
            onChange={(event) => change({ market: event.currentTarget.value })}
          >
            {open.map(({ id, code }) => (
              <option key={id} value={String(id)}>
                {code}
              </option>
            ))}
          </select>
        </label>
        <label>
          <span>{t('Ad group type')}</span>
          <select
            value={type ?? ''}
            onChange={(event) => change({ type: event.currentTarget.value })}
          >
            <option value="">{t('All')}</option>
            {adGroupTypes.map((name) => (
              <option key={name} value={name}>
                {wordsOf(name)}
              </option>
            ))}
          </select>
        </label>
      </div>
      {market === undefined ? (
        <Empty>{t('You have access to no market of this publisher.')}</Empty>
      ) : (
        <Sites
          advertiserId={account.id}
          publisherId={publisher.id}
          marketId={market.id}
          type={type}
        />
      )}
    </>
  )
}

interface SitesProps {
  readonly advertiserId: number
  readonly publisherId: number
  readonly marketId: number
  readonly type: string | null
}

interface Line {
  readonly site: NonNullable<SiteLocations['site']>
  readonly location: Location
}

const lineColumns: readonly TableColumn<Line>[] = [
  { name: 'site', label: t('Site'), cell: ({ site }) => site.name },
  { name: 'device', label: t('Kind of site'), cell: ({ site }) => wordsOf(site.type) },
  { name: 'location', label: t('Location'), cell: ({ location }) => wordsOf(location.location) },
  { name: 'type', label: t('Kind'), cell: ({ location }) => wordsOf(location.type) },
  {
    name: 'position',
    label: t('Position'),
    cell: ({ location }) => wordsOf(location.pagePosition),
  },
]

function Sites({ advertiserId, publisherId, marketId, type }: SitesProps) {
  const { api } = useSession()
  const query = new URLSearchParams({
    publisherId: String(publisherId),
    marketId: String(marketId),
    ...(type !== null && { adGroupType: type }),
  })
  const path = `v2/advertisers/${advertiserId}/eligible/site-locations?${query}`
  const sites = useLoaded(
    path,
    async (signal) => await api.get<readonly SiteLocations[]>(path, signal)
  )
  return (
    <section class="card" aria-label={t('Sites and locations')}>
      <Stages loaded={sites} what={t('the sites')}>
        {(value) => {
          const lines = value.flatMap(({ site = {}, locations = [] }) =>
            locations.map((location) => ({ site, location }))
          )
          if (lines.length === 0) return <Empty>{t('No location is open to you here.')}</Empty>
          return (
            <Table
              caption={t('Sites and locations')}
              columns={lineColumns}
              rows={lines}
              keyOf={(_line, index) => String(index)}
            />
          )
        }}
      </Stages>
    </section>
  )
}
