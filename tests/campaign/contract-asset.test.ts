// The answers of the asset operation, by its rules: what the path names, then what the body says.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import {
  assertRefused,
  fullAsset,
  fullAssetId,
  openContractPort,
  otherAssetId,
  type Reply,
  type Sending,
} from './contract-port.ts'
import { assetId, foreignAssetId, leftAssetId, restingAssetId, wideAssetId } from './harness.ts'

const port = await openContractPort()
after(() => port.close())

const largest = 2_147_483_647
type Ids = readonly [advertiserId: string, campaignId: string, adGroupId: string]
const good: Ids = ['1', '1001', '5001']
const body = { creativeSizeId: 1, assetId }

function pathOf([advertiserId, campaignId, adGroupId]: Ids): string {
  return `/display/v2/advertisers/${advertiserId}/campaigns/${campaignId}/display/ad-groups/${adGroupId}/assets`
}

async function post(sent: unknown, ids: Ids = good, rest: Partial<Sending> = {}): Promise<Reply> {
  return await port.send({ method: 'POST', path: pathOf(ids), body: sent, ...rest })
}

function advertised(adGroupId: number, creativeSizeId: number): string | undefined {
  return port.catalog.current().assignments.get(`${adGroupId}/${creativeSizeId}`)?.assetId
}

test('an asset with every text is attached and told with all of it', async () => {
  const reply = await post({ creativeSizeId: 1, assetId: fullAssetId }, ['1', '1001', '5003'])

  assert.equal(reply.status, 201)
  assert.equal(reply.headers['content-type'], 'application/json; charset=utf-8')
  assert.deepEqual(reply.json, {
    creativeSizeId: 1,
    width: 728,
    height: 90,
    fileName: fullAsset.fileName,
    assetId: fullAssetId,
    assetUrl: fullAsset.url,
    advertised: true,
    altText: fullAsset.altText,
    backgroundColor: fullAsset.backgroundColor,
    callToAction: fullAsset.callToAction,
    adCopy: fullAsset.adCopy,
    type: 'HTML_IMAGE_LINK',
    link: fullAsset.link,
  })
})

test('an asset without texts is told without those fields', async () => {
  const reply = await post({ creativeSizeId: 1, assetId: otherAssetId }, ['1', '1001', '5003'])

  assert.equal(reply.status, 201)
  assert.deepEqual(reply.json, {
    creativeSizeId: 1,
    width: 728,
    height: 90,
    fileName: 'other.mp4',
    assetId: otherAssetId,
    assetUrl: 'https://cdn.example/other.mp4',
    advertised: true,
    type: 'HTML_VIDEO_LINK',
  })
})

test('attaching the same again, also at the same time, gives the same 201', async () => {
  const first = await post(body)
  const others = await Promise.all([post(body), post(body), post(body), post(body)])

  for (const again of others) assert.deepEqual([again.status, again.text], [201, first.text])
  assert.equal(advertised(5001, 1), assetId)
})

test('the latest asset is the advertised one of its ad group and size, and of no other', async () => {
  const before = advertised(5003, 1)
  await post(body)
  const next = await post({ ...body, assetId: otherAssetId })
  assert.equal(next.status, 201)
  assert.equal(advertised(5001, 1), otherAssetId)

  const largestSize = await post({ creativeSizeId: largest, assetId: fullAssetId })
  assert.equal(largestSize.status, 201)
  assert.equal(advertised(5001, largest), fullAssetId)
  assert.equal(advertised(5001, 1), otherAssetId)

  await post(body)
  assert.equal(advertised(5001, 1), assetId)
  assert.equal(advertised(5003, 1), before)
})

test('what is attached stands in the catalog as it is read anew', async () => {
  await post({ ...body, assetId: otherAssetId }, ['1', '1003', '5006'])
  await port.catalog.refresh()
  assert.equal(advertised(5006, 1), otherAssetId)
})

const taken: readonly (readonly [name: string, sent: unknown, ids?: Ids])[] = [
  ['a display ad group', body],
  ['a sponsored brand ad group', body, ['1', '1001', '5003']],
  ['the largest ids', { ...body, creativeSizeId: largest }, ['1', '1003', String(largest)]],
  ['an id in capitals', { ...body, assetId: assetId.toUpperCase() }],
  ['a whole number with decimals', `{"creativeSizeId":1.0,"assetId":"${assetId}"}`],
  ['an exponent', `{"creativeSizeId":1e0,"assetId":"${assetId}"}`],
  ['the last of a doubled key', `{"creativeSizeId":9,"creativeSizeId":1,"assetId":"${assetId}"}`],
  ['a byte order mark', `\uFEFF${JSON.stringify(body)}`],
  ['blanks around', ` \r\n\t${JSON.stringify(body)}\n`],
]
for (const [name, sent, ids] of taken) {
  test(`taken: ${name}`, async () => {
    assert.equal((await post(sent, ids)).status, 201)
  })
}

test('the headers of content and of acceptance decide nothing', async () => {
  for (const headers of [
    { 'content-type': 'application/json; charset=utf-8', accept: 'application/json' },
    { 'content-type': 'text/plain', accept: 'text/html' },
    { 'content-type': 'a b', accept: '' },
  ]) {
    const reply = await post(body, good, { headers })
    assert.equal(reply.status, 201)
    assert.equal(reply.headers['content-type'], 'application/json; charset=utf-8')
  }
})

const ids: readonly string[] = [
  '0|-1|01001|+1001|1001.0|1e3|0x3e9|2147483648|4294968297|x|null|%20|1001%20|1001%2F|%D9%A1',
  '1001,1001',
  '9'.repeat(400),
].flatMap((texts) => texts.split('|'))
const elsewhere: readonly Ids[] = [
  ['1', '1001', '9999'],
  ['1', '9999', '5001'],
  ['1', '1003', '5001'],
  ['1', '1001', '5006'],
  ['1', '1001', '6001'],
  ['1', '2001', '6001'],
  ['2', '1001', '5001'],
  ['2', '2001', '5001'],
  ['999', '1001', '5001'],
  ['5001', '1001', '1'],
  ...ids.map((id): Ids => ['1', id, '5001']),
  ...ids.map((id): Ids => ['1', '1001', id]),
]
test('an ad group that is not in the campaign, or a campaign that is not the advertisers, is 404 before 422', async () => {
  for (const place of elsewhere) {
    for (const sent of [body, '{', '']) {
      const reply = await post(sent, place, { key: 'everyone' })
      assertRefused(reply, 404, ['There is no such ad group in this campaign of this advertiser.'])
    }
  }
})

const uuidRule = '/assetId must be a UUID'
const refused: readonly (readonly [name: string, sent: unknown, messages: readonly string[]])[] = [
  ['no body', undefined, ['body must not be empty']],
  ['an empty body', '', ['body must not be empty']],
  ['blanks', '  ', ['body must be valid JSON']],
  ['a broken body', '{"creativeSizeId":1', ['body must be valid JSON, broken at position 19']],
  ['a body of bytes', Buffer.from([0x7b, 0xff, 0x7d]), ['body must be valid UTF-8']],
  ['two values', '{} {}', ['body must be valid JSON']],
  ['null', 'null', ['body must be object']],
  ['a list', [body], ['body must be object']],
  ['a text', '"x"', ['body must be object']],
  ['a number', '1', ['body must be object']],
  ['nothing', {}, ['/creativeSizeId is required', '/assetId is required']],
  ['no size', { assetId }, ['/creativeSizeId is required']],
  ['no asset', { creativeSizeId: 1 }, ['/assetId is required']],
  ['a size of 0', { ...body, creativeSizeId: 0 }, ['/creativeSizeId must be at least 1']],
  ['a negative size', { ...body, creativeSizeId: -1 }, ['/creativeSizeId must be at least 1']],
  [
    'a size beyond int32',
    { ...body, creativeSizeId: largest + 1 },
    [`/creativeSizeId must be at most ${largest}`],
  ],
  [
    'a size without end',
    `{"creativeSizeId":1e999,"assetId":"${assetId}"}`,
    ['/creativeSizeId must be a finite number'],
  ],
  ['half a size', { ...body, creativeSizeId: 1.5 }, ['/creativeSizeId must be integer']],
  ['a size as text', { ...body, creativeSizeId: '1' }, ['/creativeSizeId must be integer']],
  ['a size of null', { ...body, creativeSizeId: null }, ['/creativeSizeId must be integer']],
  ['a size in a list', { ...body, creativeSizeId: [1] }, ['/creativeSizeId must be integer']],
  ['a size of true', { ...body, creativeSizeId: true }, ['/creativeSizeId must be integer']],
  ['an asset of null', { ...body, assetId: null }, ['/assetId must be string']],
  ['an asset as a number', { ...body, assetId: 1 }, ['/assetId must be string']],
  ['an empty asset', { ...body, assetId: '' }, [uuidRule]],
  ['a UUID without dashes', { ...body, assetId: assetId.replaceAll('-', '') }, [uuidRule]],
  ['a UUID in braces', { ...body, assetId: `{${assetId}}` }, [uuidRule]],
  ['a UUID with a scheme', { ...body, assetId: `urn:uuid:${assetId}` }, [uuidRule]],
  ['a UUID and a line', { ...body, assetId: `${assetId}\n` }, [uuidRule]],
  ['a UUID one short', { ...body, assetId: assetId.slice(0, -1) }, [uuidRule]],
  [
    'an unknown size',
    { ...body, creativeSizeId: 99 },
    ['/creativeSizeId is no known creative size'],
  ],
  ['a retired size', { ...body, creativeSizeId: 2 }, ['/creativeSizeId is not active']],
  ['a resting asset', { ...body, assetId: restingAssetId }, ['/assetId is not active']],
  [
    'another width',
    { ...body, assetId: wideAssetId },
    ['/assetId is 970x90, but the creative size is 728x90'],
  ],
  [
    'another height',
    { ...body, creativeSizeId: 3 },
    ['/assetId is 728x90, but the creative size is 728x91'],
  ],
  [
    'width and height the other way round',
    { ...body, creativeSizeId: 4 },
    ['/assetId is 728x90, but the creative size is 90x728'],
  ],
  [
    'all of it at once',
    { creativeSizeId: 99, assetId: restingAssetId },
    ['/assetId is not active', '/creativeSizeId is no known creative size'],
  ],
]
for (const [name, sent, messages] of refused) {
  test(`422: ${name}`, async () => {
    const before = new Map(port.catalog.current().assignments)

    assertRefused(await post(sent), 422, messages)

    assert.deepEqual(new Map(port.catalog.current().assignments), before)
  })
}

const unknownAssets: readonly (readonly [name: string, sent: object, ids: Ids])[] = [
  [
    'an asset that nobody has',
    { ...body, assetId: '00000000-0000-0000-0000-000000000000' },
    ['1', '1001', '5001'],
  ],
  ['the asset of another advertiser', { ...body, assetId: foreignAssetId }, ['1', '1001', '5001']],
  [
    'the asset of another advertiser and an unknown size',
    { creativeSizeId: 99, assetId: foreignAssetId },
    ['1', '1001', '5001'],
  ],
  ['an asset at an advertiser that is gone and lacks it', body, ['3', '3001', '7001']],
]
for (const [name, sent, place] of unknownAssets) {
  test(`404: ${name}, and nothing is attached`, async () => {
    const before = new Map(port.catalog.current().assignments)

    assertRefused(await post(sent, place, { key: 'everyone' }), 404, [
      '/assetId is no known asset of the advertiser',
    ])

    assert.deepEqual(new Map(port.catalog.current().assignments), before)
  })
}

const wrongPlaces: readonly (readonly [name: string, ids: Ids, messages: readonly string[]])[] = [
  [
    'an ad group of another type',
    ['1', '1001', '5002'],
    ['The ad group must be of type DISPLAY or SPONSORED_BRAND.'],
  ],
  ['a resting ad group', ['1', '1001', '5004'], ['The ad group is not active.']],
  ['a past campaign', ['1', '1002', '5005'], ['The campaign is not active.']],
]
test('422: an advertiser that is gone', async () => {
  const place = ['3', '3001', '7001'] as const

  assertRefused(await post({ ...body, assetId: leftAssetId }, place, { key: 'everyone' }), 422, [
    'The advertiser is not active.',
  ])
})

for (const [name, place, messages] of wrongPlaces) {
  test(`422: ${name}`, async () => {
    assertRefused(await post(body, place, { key: 'everyone' }), 422, messages)
  })
}

test('a body of 1 MiB is read, and one byte more is 413', async () => {
  const padded = JSON.stringify(body).padEnd(1_048_576)

  assert.equal((await post(padded)).status, 201)
  assertRefused(await post(`${padded} `), 413, ['body must have at most 1048576 bytes'])
})
