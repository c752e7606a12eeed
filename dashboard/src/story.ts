// The story of a line of a purchase in words: to whom it is credited and why, what happened before, and what was sent
// back.
import type { LossReason, OwnExplanation } from '../../src/contract/explanation.ts'
import type { AttributionProfile } from '../../src/contract/report-request.ts'
import { formatDuration, formatMoney, formatNumber } from './format.ts'
import { t } from './language.ts'
import { profileNames, profiles } from './view.ts'

export type OwnLine = OwnExplanation['lines'][number]
type OwnCredit = NonNullable<OwnLine['credits'][AttributionProfile]['credit']>
export type Names = OwnExplanation['names']

interface Ad {
  readonly marketId: number
  readonly campaignId: number
  readonly adGroupId: number
  readonly gtin: string
}

/** What the catalog does not know is told by its id. */
export function placeName({ campaigns, adGroups }: Names, { campaignId, adGroupId }: Ad): string {
  const campaign = nameOf(campaigns, campaignId) ?? t('campaign {{id}}', { id: String(campaignId) })
  const adGroup = nameOf(adGroups, adGroupId) ?? t('ad group {{id}}', { id: String(adGroupId) })
  return `${campaign} › ${adGroup}`
}

export function nameOf(
  entries: readonly { readonly id: number; readonly name: string }[],
  id: number
): string | null {
  return entries.find((entry) => entry.id === id)?.name ?? null
}

/** The title in that market, in any other one, or else the number itself. */
export function titleOf({ products }: Names, gtin: string, marketId: number | undefined): string {
  const titles = products.filter((product) => product.gtin === gtin)
  return (titles.find((product) => product.marketId === marketId) ?? titles[0])?.title ?? gtin
}

/** What was bought, as in the market of an ad that earns it. */
export function boughtTitle(names: Names, { gtin, credits }: OwnLine): string {
  const earning = profiles.flatMap((profile) => credits[profile].credit ?? [])
  return titleOf(names, gtin, earning[0]?.marketId)
}

interface Told {
  readonly line: OwnLine
  readonly names: Names
  readonly currency: string
  readonly profile: AttributionProfile
}

/** The first words: whose the line is. */
export function creditedTo({ line, profile }: Pick<Told, 'line' | 'profile'>): string {
  switch (line.credits[profile].creditedTo) {
    case 'you':
      return t('Credited to you')
    case 'another':
      return t('Credited to another advertiser')
    case 'nobody':
      return t('Credited to nobody')
  }
}

/** Product, units, amount and the reason, in one sentence. */
export function tellCredit(told: Told): string {
  const { line, names, profile } = told
  const { creditedTo: owner, credit } = line.credits[profile]
  if (credit !== null) return tellReason(told, credit)
  const product = boughtTitle(names, line)
  const other = profiles.find((one) => line.credits[one].creditedTo === 'you')
  const instead = other === undefined ? '' : profileNames[other]
  return owner === 'another'
    ? t(
        '{{product}}: under this attribution the ad of another advertiser went before yours. It is credited to you under “{{instead}}”.',
        { product, instead }
      )
    : t(
        '{{product}}: no ad counts under this attribution. It is credited to you under “{{instead}}”.',
        { product, instead }
      )
}

function tellReason({ line, names, currency }: Told, credit: OwnCredit): string {
  const values = {
    product: titleOf(names, line.gtin, credit.marketId),
    units: formatNumber(line.boughtQuantity),
    value: formatMoney(line.boughtValue, currency),
    place: placeName(names, credit),
    time: formatDuration(credit.msBeforePurchase),
  }
  switch (credit.rule) {
    case 'direct':
      return t(
        '{{product}}, bought {{units}} for {{value}}, because the shopper clicked your ad in {{place}} {{time}} before.',
        values
      )
    case 'in-group':
      return t(
        '{{product}}, bought {{units}} for {{value}}, because the shopper clicked your ad for {{advertised}}, a product of the same group, in {{place}} {{time}} before.',
        { ...values, advertised: titleOf(names, credit.gtin, credit.marketId) }
      )
    case 'view':
      return t(
        '{{product}}, bought {{units}} for {{value}}, because the shopper saw your ad in {{place}} {{time}} before.',
        values
      )
  }
}

interface Remaining {
  /** Units, before and after what was sent back. */
  readonly bought: number
  readonly rest: number
  /** Of the rest. */
  readonly value: string
  readonly currency: string | undefined
}

/** What remains once products were sent back; null where nothing was. */
export function tellReturns({ bought, rest, value, currency }: Remaining): string | null {
  if (rest >= bought) return null
  if (rest === 0) return t('All of it was sent back, so nothing of it counts any more.')
  return t('{{back}} of {{bought}} were sent back: {{rest}} for {{value}} still count.', {
    back: formatNumber(bought - rest),
    bought: formatNumber(bought),
    rest: formatNumber(rest),
    value: formatMoney(value, currency),
  })
}

export interface StoryEvent {
  readonly kind: 'view' | 'click' | 'purchase' | 'return'
  readonly at: string
  /** Of an ad that was seen or clicked. */
  readonly ad: (Ad & { readonly servedAdId: string; readonly msBeforePurchase: number }) | null
  readonly outcome: 'won' | LossReason | null
  /** Of a return. */
  readonly units: number
}

/** Seen, clicked, bought, returned: the earliest first. */
export function eventsOf(
  line: OwnLine,
  profile: AttributionProfile,
  purchasedAt: string
): readonly StoryEvent[] {
  const bought = { kind: 'purchase', at: purchasedAt, ad: null, outcome: null, units: 0 } as const
  const returned = line.returns.map(({ returnedAt, quantity }) => ({
    ...bought,
    kind: 'return' as const,
    at: returnedAt,
    units: quantity,
  }))
  const before = [...touchpointsOf(line, profile)].toSorted(
    (one, other) => Date.parse(one.at) - Date.parse(other.at)
  )
  // What came in the millisecond of the purchase stands before it.
  return [...before, bought, ...returned]
}

/** Touchpoints that were dropped or belong to nobody any more are still known where they earn the line. */
function touchpointsOf(line: OwnLine, profile: AttributionProfile): readonly StoryEvent[] {
  const listed = line.candidates.map((one) => ({
    kind: one.kind,
    at: one.touchedAt,
    ad: one,
    outcome: one.outcomes[profile],
    units: 0,
  }))
  const known = new Set(listed.map(({ kind, ad }) => `${kind} ${ad.servedAdId}`))
  const credited = new Map<string, StoryEvent>()
  for (const { credit } of profiles.map((one) => line.credits[one])) {
    if (credit === null) continue
    const kind = credit.rule === 'view' ? 'view' : 'click'
    const key = `${kind} ${credit.servedAdId}`
    if (known.has(key)) continue
    const own = line.credits[profile].credit
    const isWinner = own?.rule === credit.rule && own.servedAdId === credit.servedAdId
    const loss = doesCount(kind, profile) ? 'click-preferred' : 'not-in-profile'
    const outcome = isWinner ? 'won' : loss
    credited.set(key, { kind, at: credit.touchedAt, ad: credit, outcome, units: 0 })
  }
  return [...listed, ...credited.values()]
}

function doesCount(kind: 'view' | 'click', profile: AttributionProfile): boolean {
  if (profile === 'IMP_1_DAY_CLK_14_DAYS') return true
  return kind === 'click' ? profile === 'CLK_14_DAYS' : profile === 'IMP_1_DAY'
}

/** Why a touchpoint earned nothing, for people. */
export function lossWords(reason: LossReason, kind: 'view' | 'click'): string {
  switch (reason) {
    case 'not-in-profile':
      return kind === 'click' ? t('clicks do not count here') : t('views do not count here')
    case 'crowd-identity':
      return t('more people than one share this id')
    case 'other-login':
      return t('another shopper was signed in')
    case 'after-purchase':
      return t('it came after the purchase')
    case 'other-product':
      return t('it was for another product')
    case 'outside-window':
      return kind === 'click' ? t('more than 14 days before') : t('more than 24 hours before')
    case 'click-preferred':
      return t('a click goes before an impression')
    case 'direct-preferred':
      return t('a click on the product itself goes before one on its group')
    case 'earlier':
      return kind === 'click' ? t('another click was later') : t('another view was later')
    case 'smaller-served-ad-id':
      return t('another ad was touched in the same moment')
  }
}
