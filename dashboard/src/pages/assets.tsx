import { useState } from 'preact/hooks'
import type {
  AdGroupEntry,
  AssetEntry,
  CreativeSizeEntry,
} from '../../../src/contract/catalog-bundle.ts'
import type { AdvertiserAccount } from '../../../src/contract/me.ts'
import { Empty, Failure, Stages } from '../components/notices.tsx'
import { formatNumber } from '../format.ts'
import { messagesOf } from '../loaded.ts'
import type { AdvertiserPageProps } from '../page-table.ts'
import { useAccount } from '../reports.ts'
import { changeQuery } from '../router.ts'
import { useSession } from '../session.ts'
import { wordsOf } from '../words.ts'
import { t } from '../language.ts'

/** Which asset each ad group shows in each creative size, and choosing another one. */
export function Assets({ advertiserId, query }: AdvertiserPageProps) {
  const account = useAccount(advertiserId)
  const refresh = account.state === 'ready' ? account.refresh : () => {}
  return (
    <>
      <div class="head">
        <h1>{t('Assets')}</h1>
        <p class="muted">{t('What your display and brand ad groups show')}</p>
      </div>
      <Stages loaded={account} what={t('the ad groups and assets')}>
        {(value) => <Choice account={value} query={query} onAttached={refresh} />}
      </Stages>
    </>
  )
}

interface ChoiceProps {
  readonly account: AdvertiserAccount
  readonly query: URLSearchParams
  readonly onAttached: () => void
}

function isActive({ active }: { readonly active?: boolean | undefined }): boolean {
  return active !== false
}

function Choice({ account, query, onAttached }: ChoiceProps) {
  const adGroups = account.adGroups.filter((one) => one.type !== 'SPA' && isActive(one))
  const adGroup = adGroups.find(({ id }) => String(id) === query.get('adGroup')) ?? adGroups[0]
  if (adGroup === undefined) {
    return <Empty>{t('You have no display or brand ad group. Only those show assets.')}</Empty>
  }
  const campaignName = (id: number) =>
    account.campaigns.find((campaign) => campaign.id === id)?.name ?? String(id)
  const sizes = account.creativeSizes
    .filter(isActive)
    .map((size) => ({
      size,
      assets: account.assets.filter((one) => isActive(one) && fits(one, size)),
    }))
    .filter(({ assets }) => assets.length > 0)
  return (
    <>
      <div class="bar">
        <label>
          <span>{t('Ad group')}</span>
          <select
            value={String(adGroup.id)}
            onChange={({ currentTarget: { value } }) =>
              changeQuery(['advertisers', account.id, 'assets'], query, { adGroup: value })
            }
          >
            {adGroups.map(({ id, name, campaignId, type }) => (
              <option key={id} value={String(id)}>
                {campaignName(campaignId)} › {name} ({wordsOf(type)})
              </option>
            ))}
          </select>
        </label>
      </div>
      {!account.isWhole && (
        <p class="footnote">{t('Not all entries are listed: there are too many.')}</p>
      )}
      {sizes.length === 0 && (
        <Empty>{t('None of your assets has the measures of a creative size.')}</Empty>
      )}
      {sizes.map(({ size, assets }) => (
        <SizeCard
          key={`${adGroup.id} ${size.id}`}
          {...{ account, adGroup, size, assets, onAttached }}
        />
      ))}
    </>
  )
}

function fits(asset: AssetEntry, { width, height }: CreativeSizeEntry): boolean {
  return asset.width === width && asset.height === height
}

interface SizeCardProps {
  readonly account: AdvertiserAccount
  readonly adGroup: AdGroupEntry
  readonly size: CreativeSizeEntry
  readonly assets: readonly AssetEntry[]
  readonly onAttached: () => void
}

function SizeCard({ account, adGroup, size, assets, onAttached }: SizeCardProps) {
  const { api } = useSession()
  const [busyId, setBusyId] = useState<string | null>(null)
  const [messages, setMessages] = useState<readonly string[]>([])
  const shown = account.assignments.find(
    (one) => one.adGroupId === adGroup.id && one.creativeSizeId === size.id
  )?.assetId
  const attach = async (assetId: string) => {
    setBusyId(assetId)
    setMessages([])
    try {
      const path = `display/v2/advertisers/${account.id}/campaigns/${adGroup.campaignId}/display/ad-groups/${adGroup.id}/assets`
      await api.post(path, { creativeSizeId: size.id, assetId })
      onAttached()
    } catch (error) {
      setMessages(messagesOf(error))
    }
    setBusyId(null)
  }
  return (
    <section class="card" aria-label={size.name}>
      <h2>
        {size.name}{' '}
        <span class="muted">
          {formatNumber(size.width)} × {formatNumber(size.height)}
        </span>
      </h2>
      {messages.length > 0 && <Failure messages={messages} />}
      <ul class="assets">
        {assets.map((asset) => (
          <li key={asset.id} class={asset.id === shown ? 'shown' : undefined}>
            <Preview asset={asset} />
            <p class="name">{asset.fileName}</p>
            <p class="muted">{asset.callToAction ?? asset.altText ?? wordsOf(asset.type)}</p>
            {asset.id === shown ? (
              <p class="badge good">{t('Shown now')}</p>
            ) : (
              <button
                type="button"
                disabled={busyId !== null}
                onClick={() => void attach(asset.id)}
              >
                {busyId === asset.id ? t('Attaching …') : t('Show this one')}
                <span class="unseen">
                  {t(': {{file}} in {{size}}', { file: asset.fileName, size: size.name })}
                </span>
              </button>
            )}
          </li>
        ))}
      </ul>
    </section>
  )
}

/** Pictures over https only; what is no picture, or cannot be loaded, is named instead. */
function Preview({ asset }: { readonly asset: AssetEntry }) {
  const [isBroken, setIsBroken] = useState(false)
  if (asset.type !== 'IMAGE' || !asset.url.startsWith('https:') || isBroken) {
    return (
      <div class="preview none">
        {isBroken ? t('The picture cannot be loaded.') : t('No preview of this kind.')}
      </div>
    )
  }
  return (
    <div class="preview">
      <img
        src={asset.url}
        alt={asset.altText ?? asset.fileName}
        width={asset.width}
        height={asset.height}
        loading="lazy"
        referrerpolicy="no-referrer"
        onError={() => setIsBroken(true)}
      />
    </div>
  )
}
