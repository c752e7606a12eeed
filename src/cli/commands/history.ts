import type { Command, Section } from '../command.ts'

const adFields: Section = {
  title: 'File: one ad a line, or {"links":[AD,...]}; an ad is a JSON object of',
  lines: [
    'publisherId, siteId, marketId, advertiserId, campaignId, adGroupId',
    '                            ids of the catalog',
    'gtin                        the advertised product',
    'userId                      id of the shopper, may be ""',
    'userLoggedInId, groupId     optional text',
    'costPerClick, costPerMille  optional, such as "0.25"',
    "currency                    optional; default: the market's",
    'landingUrl                  optional: where a click leads',
    'servedAt                    optional, such as 2026-03-02T10:00:00Z;',
    '                            for ads of the past. Default: now',
  ],
}

export const historyCommands: readonly Command[] = [
  {
    name: 'links mint',
    summary: 'Mint tracking links for ads, also for those of the past',
    details:
      'Takes any number of ads. Ads as lines (NDJSON) are answered with lines: line (the number of the ad), ' +
      'servedAdId, trackingData and three links. Refused ads are named on the error output and the others are ' +
      'minted; the exit code is 1 then.',
    operands: [{ name: 'FILE|-', isFile: true }],
    sections: [adFields],
    examples: [
      'shelftrace links mint ads.ndjson > links.ndjson',
      'shelftrace links mint ads.json --json',
    ],
    load: async () => (await import('../mint.ts')).linksMint,
  },
  {
    name: 'link',
    summary: 'Show the ad behind a link, its events and purchases',
    details:
      'Takes any link of Shelftrace or its tracking data alone; - reads it from the standard input, so that it ' +
      'does not stay in the history of the shell.',
    operands: [{ name: 'LINK|-', field: 'link' }],
    examples: ['shelftrace link -'],
    load: async () => (await import('../links.ts')).link,
  },
  {
    name: 'events load',
    summary: 'Load events of the past (NDJSON), whatever the length',
    details:
      'Refused lines are listed by number and the others are taken; the exit code is 1 then. Loading a file again ' +
      'counts nothing twice, except for purchases without a transaction id.',
    operands: [{ name: 'FILE|-', isFile: true }],
    options: {
      wait: { help: 'wait until they are in the reports, which needs a key of scope admin' },
    },
    sections: [
      {
        title: 'File: one JSON object a line, of at most 1 MiB',
        lines: [
          '{"type":"click","trackingData":"A...","receivedAt":"2026-03-02T10:00:10Z"}',
          '{"type":"impression",...}, {"type":"load",...}: the same fields',
          'The three may have a "userAgent".',
          '{"type":"conversion","receivedAt":"...","conversion":{...}}',
          '{"type":"return","receivedAt":"...","return":{...}}',
          'The last two carry the body of POST /conversion and POST /return.',
          'No "receivedAt" may lie in the future.',
        ],
      },
    ],
    examples: ['shelftrace events load events.ndjson --wait'],
    load: async () => (await import('../figures.ts')).eventsLoad,
  },
]
