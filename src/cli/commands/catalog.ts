import type { PageKind } from '../../contract/catalog-pages.ts'
import type { Command, Options } from '../command.ts'
import { afterOption, limitOption } from './paging.ts'

/** Those of the contract, which takes longer to load than all of the help. */
const pageKinds = [
  'markets',
  'publishers',
  'advertisers',
  'campaigns',
  'ad-groups',
  'creative-sizes',
  'assets',
  'assignments',
] as const satisfies readonly PageKind[]

const dryRun: Options = { 'dry-run': { help: 'check everything and store nothing' } }

export const catalogCommands: readonly Command[] = [
  {
    name: 'catalog load',
    summary: 'Add or replace entries of a bundle (JSON), all or none',
    operands: [{ name: 'FILE|-', isFile: true }],
    options: dryRun,
    sections: [
      {
        title: 'File: one JSON object of at most 64 MiB; every list may be left out',
        lines: [
          '{ "markets":    [{ "id": 1, "code": "DE", "currency": "EUR",',
          '                   "timeZone": "Europe/Berlin" }],',
          '  "publishers": [{ "id": 10, "name": "Shop", "sites":',
          '                   [{ "id": 101, "name": "Web", "type": "DESKTOP",',
          '                      "marketIds": [1] }] }],',
          '  "advertisers": [...], "campaigns": [...], "adGroups": [...],',
          '  "products": [...], "creativeSizes": [...], "assets": [...] }',
          'All fields: CatalogBundle at /docs of the campaign port.',
        ],
      },
    ],
    examples: ['shelftrace catalog load catalog.json --dry-run'],
    load: async () => (await import('../catalog.ts')).catalogLoad,
  },
  {
    name: 'catalog products',
    summary: 'Load a product feed (TSV or CSV) into a market',
    details:
      'The feed is a Google Merchant feed of any length. A row is taken or refused on its own.',
    operands: [{ name: 'FILE|-', isFile: true }],
    options: {
      market: { value: 'ID', isRequired: true, help: 'the market of the products' },
      ...dryRun,
      replace: { help: 'make products of the market inactive that the feed does not name' },
    },
    sections: [
      {
        title: 'File: tabs, commas or semicolons; the first line names the columns',
        lines: [
          'gtin           required, 1 to 60 characters',
          'title          required, 1 to 500 characters',
          'brand          up to 128 characters',
          'item_group_id  up to 60 characters; products of a group share credit',
          'Columns stand in any order; others are ignored.',
        ],
      },
    ],
    examples: ['shelftrace catalog products feed.csv --market 1 --replace'],
    load: async () => (await import('../catalog.ts')).catalogProducts,
  },
  {
    name: 'catalog show',
    summary: 'Show the catalog: how much there is, or a page of a kind',
    details: 'Without KIND, the numbers of entries; with --json then all entries but the products.',
    operands: [{ name: 'KIND', isOptional: true, choices: [...pageKinds, 'products'] }],
    options: {
      after: afterOption,
      limit: limitOption,
      market: { value: 'ID', help: 'the market whose products are shown' },
      gtin: { value: 'GTIN', help: 'only this product' },
      title: { value: 'PART', help: 'only products with this in their title' },
    },
    examples: [
      'shelftrace catalog show',
      'shelftrace catalog show ad-groups --limit 10',
      'shelftrace catalog show products --market 1 --title tea',
    ],
    load: async () => (await import('../catalog.ts')).catalogShow,
  },
  {
    name: 'rates load',
    summary: 'Load exchange rates of the European Central Bank (CSV)',
    operands: [{ name: 'FILE|-', isFile: true }],
    sections: [
      {
        title: 'File: as the European Central Bank publishes it, daily or historic',
        lines: ['Date,USD,JPY,...', '2026-03-02,1.0842,162.45,...', 'N/A: no rate of that day.'],
      },
    ],
    examples: ['shelftrace rates load eurofxref-hist.csv'],
    load: async () => (await import('../figures.ts')).ratesLoad,
  },
  {
    name: 'rates missing',
    summary: 'List the amounts that reports cannot convert',
    options: {
      from: {
        value: 'DAY',
        isRequired: true,
        field: 'startDate',
        help: 'the first day, such as 2026-03-01',
      },
      to: { value: 'DAY', isRequired: true, field: 'endDate', help: 'the last day' },
      after: afterOption,
      limit: limitOption,
    },
    examples: ['shelftrace rates missing --from 2026-03-01 --to 2026-03-31'],
    load: async () => (await import('../figures.ts')).ratesMissing,
  },
]
