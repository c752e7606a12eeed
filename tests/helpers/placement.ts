/**
 * Where the ad of most tests stands: ids that the demo's catalog and the bundles of the tests have. For
 * tracking links, served ads and histories alike.
 */
export const placement = {
  publisherId: 10,
  siteId: 101,
  marketId: 1,
  advertiserId: 1,
  campaignId: 1001,
  adGroupId: 5001,
} as const
