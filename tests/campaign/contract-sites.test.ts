// The answers of the site locations operation, by its rules.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertRefused, openContractPort, type KeyName } from './contract-port.ts'

const port = await openContractPort()
after(() => port.close())

async function get(query: string, id = '1', key: KeyName = 'everyone') {
  const path = `/v2/advertisers/${id}/eligible/site-locations${query}`
  return await port.send({ method: 'GET', path, key })
}

const home = { type: 'DISPLAY', location: 'HOME_PAGE' }
const search = { type: 'PLATFORM_PRODUCT', location: 'SEARCH_PAGE', pagePosition: 'MAIN_GRID' }
const desktop = { id: 101, name: 'Desktop', type: 'DESKTOP' }
const app = { id: 102, name: 'App', type: 'MOBILE_APP' }
const everything = [
  { site: desktop, locations: [search, home] },
  { site: app, locations: [home] },
]
const plain = '?publisherId=10&marketId=1'

const answered: readonly (readonly [name: string, query: string, id: string, answer: object])[] = [
  ['every site and location without a type', plain, '1', everything],
  [
    'DISPLAY',
    `${plain}&adGroupType=DISPLAY`,
    '1',
    [
      { site: desktop, locations: [home] },
      { site: app, locations: [home] },
    ],
  ],
  ['SPA', `${plain}&adGroupType=SPA`, '1', [{ site: desktop, locations: [search] }]],
  ['SPONSORED_BRAND, which no location carries', `${plain}&adGroupType=SPONSORED_BRAND`, '1', []],
  [
    'parameters in another order',
    '?adGroupType=SPA&marketId=1&publisherId=10',
    '1',
    [{ site: desktop, locations: [search] }],
  ],
  ['escapes in names and values', '?publisher%49d=%310&marketId=%31', '1', everything],
  ['unknown parameters', `${plain}&x=1&x=2&publisherid=x&siteId=9&advertiserId=2`, '1', everything],
  ['a market where the grant names a site without it', '?publisherId=10&marketId=2', '1', []],
  ['a market that is closed', '?publisherId=10&marketId=3', '1', []],
  ['an advertiser that is gone', plain, '3', []],
]
for (const [name, query, id, answer] of answered) {
  test(`200: ${name}`, async () => {
    const reply = await get(query, id)

    assert.deepEqual([reply.status, reply.json], [200, answer])
    assert.equal(reply.headers['content-type'], 'application/json; charset=utf-8')
  })
}

test('the list of one advertiser is the same for every key that may read it', async () => {
  for (const key of ['own', 'sites', 'everyone', 'admin'] as const) {
    assert.deepEqual((await get(plain, '1', key)).json, everything)
  }
  for (const key of ['rival', 'everyone', 'admin'] as const) {
    assertRefused(await get(plain, '2', key), 404, ['There is no such publisher.'])
  }
})

const absent: readonly (readonly [query: string, message: string])[] = [
  ['?publisherId=99&marketId=1', 'There is no such publisher.'],
  // It exists; the advertiser has no grant there.
  ['?publisherId=20&marketId=1', 'There is no such publisher.'],
  ['?publisherId=20&marketId=99', 'There is no such publisher.'],
  ['?publisherId=0&marketId=1', 'There is no such publisher.'],
  ['?publisherId=-10&marketId=1', 'There is no such publisher.'],
  ['?publisherId=2147483647&marketId=1', 'There is no such publisher.'],
  ['?publisherId=-2147483648&marketId=1', 'There is no such publisher.'],
  ['?publisherId=10&marketId=99', 'There is no such market.'],
  ['?publisherId=10&marketId=0', 'There is no such market.'],
  ['?publisherId=10&marketId=-1', 'There is no such market.'],
  ['?publisherId=10&marketId=2147483647', 'There is no such market.'],
  ['?publisherId=99&marketId=99&adGroupType=SPA', 'There is no such publisher.'],
]
for (const [query, message] of absent) {
  test(`404: ${query}`, async () => {
    assertRefused(await get(query), 404, [message])
  })
}

const publisherRule = 'publisherId must be an integer of 32 bits'
const marketRule = 'marketId must be an integer of 32 bits'
const typeRule = 'adGroupType must be one of: DISPLAY, SPA, SPONSORED_BRAND'
const noIntegers: readonly string[] = [
  '|%20|+10|%2B10|010|-0|--10|1e1|0xA|10.0|10.5|10,1|1_0|%2010|10%20|10%00|10%0A|2147483648',
  '-2147483649|4294967306|x|NaN|null|Infinity|%D9%A1|%FF|[10]',
  '9'.repeat(400),
].flatMap((texts) => texts.split('|'))
const refused: readonly (readonly [name: string, query: string, messages: readonly string[]])[] = [
  ['nothing', '', ['publisherId is required', 'marketId is required']],
  ['an empty query', '?', ['publisherId is required', 'marketId is required']],
  ['no publisher', '?marketId=1', ['publisherId is required']],
  ['no market', '?publisherId=10', ['marketId is required']],
  [
    'names in another case',
    '?publisherid=10&marketid=1',
    ['publisherId is required', 'marketId is required'],
  ],
  ['a name with brackets', '?publisherId[]=10&marketId=1', ['publisherId is required']],
  [
    'a publisher twice',
    '?publisherId=10&publisherId=10&marketId=1',
    ['publisherId must be given once'],
  ],
  ['a market twice', '?publisherId=10&marketId=1&marketId=2', ['marketId must be given once']],
  ['a type twice', `${plain}&adGroupType=SPA&adGroupType=SPA`, ['adGroupType must be given once']],
  [
    'all at once',
    '?publisherId=x&adGroupType=x',
    [publisherRule, 'marketId is required', typeRule],
  ],
  [
    'a wrong type before an unknown publisher',
    '?publisherId=99&marketId=1&adGroupType=x',
    [typeRule],
  ],
  ...noIntegers.flatMap((text): [string, string, readonly string[]][] => [
    [`publisher ${text.slice(0, 20)}`, `?publisherId=${text}&marketId=1`, [publisherRule]],
    [`market ${text.slice(0, 20)}`, `?publisherId=10&marketId=${text}`, [marketRule]],
  ]),
  ...['', 'spa', 'Spa', 'SPA%20', '%20SPA', 'SPA,DISPLAY', 'PRODUCT', 'constructor', '0'].map(
    (type): [string, string, readonly string[]] => [
      `type ${JSON.stringify(type)}`,
      `${plain}&adGroupType=${type}`,
      [typeRule],
    ]
  ),
]
for (const [name, query, messages] of refused) {
  test(`422: ${name}`, async () => {
    assertRefused(await get(query), 422, messages)
  })
}
