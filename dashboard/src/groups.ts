// A pure table of what the figures can be grouped and filtered by, and of how one group leads to the next.
import type { Grouping, GroupOrder } from '../../src/contract/group-request.ts'
import type { FilterField } from '../../src/contract/report-filters.ts'
import type { ValueField } from '../../src/contract/report-values.ts'
import type { ColumnName } from './columns.ts'
import { t } from './language.ts'

/** How the address calls what is filtered by. */
export const filterNames = [
  'campaign',
  'ad-group',
  'gtin',
  'brand',
  'publisher',
  'market',
  'title',
] as const

export type FilterName = (typeof filterNames)[number]
export type Filters = Readonly<Record<FilterName, readonly string[]>>

interface FilterKind {
  readonly label: string
  readonly field: FilterField
  /** Null for text that is searched as it is typed, instead of chosen from a list. */
  readonly values: ValueField | null
}

export const filterKinds: Readonly<Record<FilterName, FilterKind>> = {
  campaign: { label: t('Campaign'), field: 'CAMPAIGN_ID', values: 'CAMPAIGN_ID' },
  'ad-group': { label: t('Ad group'), field: 'AD_GROUP_ID', values: 'AD_GROUP_ID' },
  gtin: { label: t('Product'), field: 'GTIN', values: 'GTIN' },
  brand: { label: t('Brand'), field: 'BRAND', values: 'BRAND' },
  publisher: { label: t('Publisher'), field: 'PUBLISHER_ID', values: 'PUBLISHER_ID' },
  market: { label: t('Market'), field: 'MARKET', values: 'MARKET' },
  title: { label: t('Title contains'), field: 'PRODUCT_TITLE', values: null },
}

export const noFilters: Filters = {
  campaign: [],
  'ad-group': [],
  gtin: [],
  brand: [],
  publisher: [],
  market: [],
  title: [],
}

export const tabNames = [
  'campaigns',
  'ad-groups',
  'products',
  'brands',
  'publishers',
  'markets',
  'rows',
] as const

export type TabName = (typeof tabNames)[number]

interface Tab {
  readonly label: string
  readonly groupBy: readonly Grouping[]
  /** The first column, which names the row. */
  readonly name: ColumnName
  /** What stands behind the figures unless columns are chosen. */
  readonly behind: readonly ColumnName[]
  /** What else can be chosen. */
  readonly more: readonly ColumnName[]
  /** Null if a row leads to the page of its product. */
  readonly down: {
    readonly filter: FilterName
    readonly value: ColumnName
    readonly tab: TabName
    /** Where the way down begins. */
    readonly all: string
    /** In place of a row's name where it has none to lead by. */
    readonly nameless: string
  } | null
}

export const tabs: Readonly<Record<TabName, Tab>> = {
  campaigns: {
    label: t('Campaigns'),
    groupBy: ['CAMPAIGN'],
    name: 'CAMPAIGN_NAME',
    behind: ['CAMPAIGN_ID'],
    more: [],
    down: {
      filter: 'campaign',
      value: 'CAMPAIGN_ID',
      tab: 'ad-groups',
      all: t('All campaigns'),
      nameless: t('Without a campaign'),
    },
  },
  'ad-groups': {
    label: t('Ad groups'),
    groupBy: ['AD_GROUP'],
    name: 'AD_GROUP_NAME',
    behind: ['CAMPAIGN_NAME', 'AD_GROUP_ID'],
    more: ['CAMPAIGN_ID'],
    down: {
      filter: 'ad-group',
      value: 'AD_GROUP_ID',
      tab: 'products',
      all: t('All ad groups'),
      nameless: t('Without an ad group'),
    },
  },
  products: {
    label: t('Products'),
    groupBy: ['PRODUCT'],
    name: 'PRODUCT_TITLE',
    behind: ['BRAND', 'GTIN'],
    more: [],
    down: null,
  },
  brands: {
    label: t('Brands'),
    groupBy: ['BRAND'],
    name: 'BRAND',
    behind: [],
    more: [],
    down: {
      filter: 'brand',
      value: 'BRAND',
      tab: 'products',
      all: t('All brands'),
      nameless: t('Without a brand'),
    },
  },
  publishers: {
    label: t('Publishers'),
    groupBy: ['PUBLISHER'],
    name: 'PUBLISHER_NAME',
    behind: ['PUBLISHER_ID'],
    more: [],
    down: {
      filter: 'publisher',
      value: 'PUBLISHER_ID',
      tab: 'campaigns',
      all: t('All publishers'),
      nameless: t('Without a publisher'),
    },
  },
  markets: {
    label: t('Markets'),
    groupBy: ['MARKET'],
    name: 'MARKET',
    behind: [],
    more: [],
    down: {
      filter: 'market',
      value: 'MARKET',
      tab: 'campaigns',
      all: t('All markets'),
      nameless: t('Without a market'),
    },
  },
  rows: {
    label: t('All rows'),
    groupBy: ['PRODUCT', 'MARKET', 'PUBLISHER', 'AD_GROUP'],
    name: 'PRODUCT_TITLE',
    behind: ['CAMPAIGN_NAME', 'AD_GROUP_NAME', 'PUBLISHER_NAME', 'MARKET', 'GTIN'],
    more: ['BRAND', 'PUBLISHER_ID', 'CAMPAIGN_ID', 'AD_GROUP_ID'],
    down: null,
  },
}

export const defaultTab: TabName = 'campaigns'
export const defaultOrder: GroupOrder = 'AD_SPEND_REVENUE'

/** A step of the way down: a filter of one value, which the way back takes away. */
export interface Level {
  readonly filter: FilterName
  /** Where the step was taken. */
  readonly from: TabName
  /** Where it led. */
  readonly to: TabName
}

/** The steps that the filters stand for, from the widest. */
export function levelsOf(filters: Filters): readonly Level[] {
  const wide = ['markets', 'publishers', 'brands', 'campaigns', 'ad-groups'] as const
  return wide.flatMap((from) => {
    const { down } = tabs[from]
    return down !== null && filters[down.filter].length === 1
      ? [{ filter: down.filter, from, to: down.tab }]
      : []
  })
}
