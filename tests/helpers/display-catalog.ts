// The shoppers' catalog with what a display campaign needs on top: a location, an ad group, an asset.

import { demoCatalog } from './shoppers.ts'

export const assetId = '0f8fad5b-d9cb-469f-a165-70867728950e'

export const displayCatalog = {
  ...demoCatalog,
  publishers: [
    {
      id: 10,
      name: 'Example Shop',
      sites: [
        {
          id: 101,
          name: 'Desktop',
          type: 'DESKTOP',
          marketIds: [1],
          locations: [{ type: 'DISPLAY', location: 'HOME_PAGE', adGroupTypes: ['DISPLAY'] }],
        },
      ],
    },
  ],
  adGroups: [
    ...demoCatalog.adGroups,
    { id: 5002, campaignId: 1001, name: 'Banner', type: 'DISPLAY' },
  ],
  creativeSizes: [{ id: 1, name: 'Leaderboard', width: 728, height: 90 }],
  assets: [
    {
      id: assetId,
      advertiserId: 1,
      fileName: 'banner.png',
      url: 'https://cdn.example/banner.png',
      width: 728,
      height: 90,
      type: 'IMAGE',
    },
  ],
}
