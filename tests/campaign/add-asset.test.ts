import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  assetId,
  bearer,
  foreignAssetId,
  restingAssetId,
  startHarness,
  wideAssetId,
} from './harness.ts'

const good = { creativeSizeId: 1, assetId }
const placeOf = (
  advertiserId: number | string,
  campaignId: number | string,
  adGroupId: number | string
) =>
  `/display/v2/advertisers/${advertiserId}/campaigns/${campaignId}/display/ad-groups/${adGroupId}/assets`

function post(url: string, payload: object | string = good, key = 'K1') {
  return { method: 'POST', url, headers: bearer(key), payload } as const
}

test('an asset is attached and described, and attaching it again is answered the same', async (t) => {
  const { app, attached, audits } = startHarness()
  t.after(() => app.close())

  const first = await app.inject(post(placeOf(1, 1001, 5001)))
  const again = await app.inject(
    post(placeOf(1, 1001, 5001), { ...good, assetId: assetId.toUpperCase() })
  )

  assert.equal(first.statusCode, 201)
  assert.deepEqual(first.json(), {
    creativeSizeId: 1,
    width: 728,
    height: 90,
    fileName: 'banner.png',
    assetId,
    assetUrl: 'https://cdn.example/banner.png',
    advertised: true,
    altText: 'Coffee',
    type: 'IMAGE',
  })
  assert.equal(again.statusCode, 201)
  assert.deepEqual(again.json(), first.json())
  assert.deepEqual(attached[0], { adGroupId: 5001, creativeSizeId: 1, assetId })
  assert.deepEqual(attached[1], attached[0])
  assert.equal(audits.length, 2)
  const [audit] = audits
  assert.deepEqual([audit?.key?.id, audit?.action], ['key_1', 'asset.attach'])
})

test('a brand ad group takes assets too', async (t) => {
  const { app } = startHarness()
  t.after(() => app.close())
  assert.equal((await app.inject(post(placeOf(1, 1001, 5003)))).statusCode, 201)
})

test('what is not where the path says is not found, whoever owns it', async (t) => {
  const { app, attached } = startHarness()
  t.after(() => app.close())
  const paths = [
    placeOf(1, 1001, 9999),
    placeOf(1, 9999, 5001),
    placeOf(1, 1002, 5001),
    placeOf(1, 2001, 6001),
    placeOf(1, 1001, 6001),
    placeOf(1, 1001, '05001'),
    placeOf(1, 'x', 5001),
    placeOf(1, 1001, '99999999999'),
  ]
  for (const path of paths) {
    const response = await app.inject(post(path, '{broken'))
    assert.equal(response.statusCode, 404, path)
  }
  assert.equal((await app.inject(post(placeOf(2, 1001, 5001), good, 'all'))).statusCode, 404)
  assert.deepEqual(attached, [])
})

test('a key of another advertiser is forbidden, whatever the path names', async (t) => {
  const { app, attached } = startHarness()
  t.after(() => app.close())
  for (const path of [placeOf(1, 1001, 5001), placeOf(1, 9, 9)]) {
    assert.equal((await app.inject(post(path, good, 'K2'))).statusCode, 403)
  }
  assert.deepEqual(attached, [])
})

const broken: readonly (readonly [path: string, payload: object | string, message: string])[] = [
  [placeOf(1, 1001, 5001), '', 'body must not be empty'],
  [placeOf(1, 1001, 5001), {}, '/creativeSizeId is required'],
  [placeOf(1, 1001, 5001), { ...good, creativeSizeId: 0 }, '/creativeSizeId must be at least 1'],
  [placeOf(1, 1001, 5001), { ...good, creativeSizeId: '1' }, '/creativeSizeId must be integer'],
  [placeOf(1, 1001, 5001), { ...good, assetId: 'x' }, '/assetId must be a UUID'],
  [
    placeOf(1, 1001, 5001),
    { ...good, creativeSizeId: 9 },
    '/creativeSizeId is no known creative size',
  ],
  [placeOf(1, 1001, 5001), { ...good, creativeSizeId: 2 }, '/creativeSizeId is not active'],
  [placeOf(1, 1001, 5001), { ...good, assetId: restingAssetId }, '/assetId is not active'],
  [
    placeOf(1, 1001, 5001),
    { ...good, assetId: wideAssetId },
    '/assetId is 970x90, but the creative size is 728x90',
  ],
  [placeOf(1, 1001, 5002), good, 'The ad group must be of type DISPLAY or SPONSORED_BRAND.'],
  [placeOf(1, 1001, 5004), good, 'The ad group is not active.'],
  [placeOf(1, 1002, 5005), good, 'The campaign is not active.'],
]
test('an asset of another advertiser is not found, like one that nobody has', async (t) => {
  const { app, attached } = startHarness()
  t.after(() => app.close())
  for (const unknown of [foreignAssetId, assetId.replace('3', '4')]) {
    const response = await app.inject(post(placeOf(1, 1001, 5001), { ...good, assetId: unknown }))
    assert.equal(response.statusCode, 404)
    const messages = ['/assetId is no known asset of the advertiser']
    assert.deepEqual(response.json<{ messages: string[] }>().messages, messages)
  }
  assert.deepEqual(attached, [])
})

test('a request that breaks a rule is answered 422 and attaches nothing', async (t) => {
  const { app, attached } = startHarness()
  t.after(() => app.close())
  for (const [path, payload, message] of broken) {
    const response = await app.inject(post(path, payload))
    assert.equal(response.statusCode, 422, message)
    assert.equal(response.json<{ messages: string[] }>().messages[0], message)
  }
  assert.deepEqual(attached, [])
})
