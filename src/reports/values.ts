// The values that a filter can have: groups with figures in a range, found by a part of their name.

import { anyCase, anyCaseSql } from '../domain/any-case.ts'
import type { Grouping, GroupRequest } from '../contract/group-request.ts'
import { reportDefaults } from '../contract/report-request.ts'
import {
  valuesMax,
  type ReportValues,
  type ValueField,
  type ValuesQuery,
} from '../contract/report-values.ts'
import type { GroupRow } from './groups-rows.ts'
import { nameOf, plainOrders } from './order.ts'
import type { GroupsCall, RunGroups } from './run-groups.ts'

interface Kind {
  readonly grouping: Grouping
  /** What is searched, over the columns of a report by groups. */
  readonly textSql: string
  readonly toValue: (row: GroupRow) => ReportValues['values'][number]
}

const kinds: Readonly<Record<ValueField, Kind>> = {
  BRAND: {
    grouping: 'BRAND',
    textSql: 'brand',
    toValue: ({ brand }) => ({ value: brand, name: brand, of: '' }),
  },
  GTIN: {
    grouping: 'PRODUCT',
    textSql: `concat(title, ' ', gtin)`,
    toValue: ({ gtin, title, brand }) => ({ value: gtin, name: title, of: brand }),
  },
  CAMPAIGN_ID: {
    grouping: 'CAMPAIGN',
    textSql: `concat(${nameOf('campaign', 'campaign_id')}, ' ', toString(campaign_id))`,
    toValue: (row) => ({ value: String(row.campaignId), name: row.campaignName, of: '' }),
  },
  AD_GROUP_ID: {
    grouping: 'AD_GROUP',
    textSql: `concat(${nameOf('adGroup', 'ad_group_id')}, ' ', toString(ad_group_id))`,
    toValue: (row) => ({
      value: String(row.adGroupId),
      name: row.adGroupName,
      of: row.campaignName,
    }),
  },
  PUBLISHER_ID: {
    grouping: 'PUBLISHER',
    textSql: `concat(${nameOf('publisher', 'publisher_id')}, ' ', toString(publisher_id))`,
    toValue: (row) => ({ value: String(row.publisherId), name: row.publisherName, of: '' }),
  },
  MARKET: {
    grouping: 'MARKET',
    textSql: plainOrders.MARKET,
    toValue: ({ market }) => ({ value: market, name: market, of: '' }),
  },
}

/** A value has a row for each of its currencies, of which few have many. */
const rowsMax = 10 * valuesMax

export async function readValues(
  runGroups: RunGroups,
  { field, q = '', startDate, endDate }: ValuesQuery,
  asker: Pick<GroupsCall, 'advertiserId' | 'keyId' | 'signal'>
): Promise<ReportValues> {
  const { grouping, textSql, toValue } = kinds[field]
  const request: GroupRequest = {
    groupBy: [grouping],
    filters: [],
    startDate,
    endDate,
    attributionProfile: reportDefaults.attributionProfile,
    page: 0,
    limit: rowsMax,
    sortType: 'DESC',
    orderBy: 'AD_SPEND_REVENUE',
    withOrders: false,
  }
  const condition = {
    sql: `position(${anyCaseSql(textSql)}, ${anyCaseSql('{sought:String}')}) > 0`,
    params: { sought: q },
  }
  const { rows, totalRows } = await runGroups({
    ...asker,
    request,
    ...(q !== '' && { condition }),
  })
  const byValue = new Map<string, ReportValues['values'][number]>()
  for (const one of rows.map(toValue)) {
    // A brand is the same in any case, as its filter takes it.
    const key = field === 'BRAND' ? anyCase(one.value) : one.value
    const known = byValue.get(key)
    // Where a product was sold in several currencies, not each of its markets may know its name.
    if (known === undefined || known.name === '') byValue.set(key, one)
  }
  // Products without a brand are not a brand.
  byValue.delete('')
  return {
    values: [...byValue.values()].slice(0, valuesMax),
    hasMore: byValue.size > valuesMax || totalRows > rows.length,
  }
}
