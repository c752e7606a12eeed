import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { servedAdLimits } from '../../../src/contract/served-ad.ts'
import { createKeyRing, createMinter } from '../../../src/tracking-data/tracking-data.ts'
import { placement } from '../../helpers/placement.ts'
import { served, startLinkReader, type LinkReader } from './link-reader.ts'

let links: LinkReader
before(async () => {
  links = await startLinkReader()
})
after(() => links.admin.close())

test('tracking data of which nothing has come yet says what was served, for how much and how long it counts', async () => {
  const { token, ad } = links.mint()

  const { ad: said, ...rest } = await links.read(token)

  const { servedAdId, keyId, ...facts } = said
  assert.equal(servedAdId.replaceAll('-', ''), ad.servedAdId)
  assert.equal(keyId, Buffer.from(token, 'base64url').toString('hex', 1, 5))
  assert.deepEqual(facts, {
    ...placement,
    servedAt: '2026-03-02T12:00:00.000Z',
    gtin: '4006381333931',
    groupId: 'GRP1',
    currency: 'EUR',
    costPerClick: '0.25',
    costPerMille: '2',
    landingUrl: 'https://shop.example/coffee?x=1',
    userId: 'present',
    userLoggedInId: 'present',
  })
  assert.deepEqual(rest, {
    names: {
      publisher: 'Shop',
      site: 'D',
      market: 'DE',
      advertiser: 'Acme',
      campaign: 'Spring',
      adGroup: 'Coffee',
    },
    countsFrom: '2026-03-02T11:55:00.000Z',
    viewsCountUntil: '2026-03-03T12:00:00.000Z',
    clicksCountUntil: '2026-03-09T12:00:00.000Z',
    events: [],
    credits: [],
    creditsLeftOut: 0,
    creditedPurchases: 0,
    isFinal: false,
  })
})

test('every form in which a link is pasted leads to the same served ad', async () => {
  const { token } = links.mint()
  const known = await links.read(token)
  const plain = Buffer.from(token, 'base64url').toString('base64')
  const escaped = Buffer.from(token).toString('hex').replaceAll(/../g, '%$&')
  const pasted = [
    `https://track.example/click/${token}`,
    `http://127.0.0.1:8080/impression/${token}?x=1&y=/click/other#z`,
    `https://cdn.example/some/prefix/load/${token}/`,
    `/click/${token}`,
    `click/${token}`,
    `  ${token}\n`,
    `${token.slice(0, 60)}\r\n  ${token.slice(60)}`,
    `${token}?x=1`,
    plain,
    encodeURIComponent(plain),
    `https://track.example/click/${encodeURIComponent(plain)}`,
    escaped,
    `https://track.example/load/${escaped}`,
    `https://user:secret@track.example/click/click/${token}`,
    `"https://track.example/click/${token}"`,
    `<https://track.example/click/${token}>`,
    `'${token}'`,
    encodeURIComponent(`https://track.example/click/${token}`),
    `https://track.example/click/${token} https://track.example/load/${token}`,
  ]

  for (const link of pasted) assert.deepEqual(await links.read(link), known, link)
})

test('two links are refused, since an answer about one would pass for the other', async () => {
  const minted = [links.mint(), links.mint()]
  const [one, other] = minted.map(({ token }) => `https://track.example/click/${token}`)
  for (const link of [
    `${one}\n${other}`,
    `${one} ${other}`,
    `${one}?x=1,${other}`,
    `["${one}","${other}"]`,
  ]) {
    assert.deepEqual(await links.refused(link), ['/link must be one link; these are several'], link)
  }
})

test('ids that the catalog does not have keep their numbers, and texts that name nobody are told as such', async () => {
  const strange = {
    publisherId: 99,
    siteId: 98,
    marketId: 97,
    advertiserId: 96,
    campaignId: 95,
    adGroupId: 94,
  }

  const one = await links.read(
    links.mint({ ...strange, userId: ' Anonymous ', userLoggedInId: '' }).token
  )
  const other = await links.read(links.mint({ siteId: 98, userLoggedInId: 'null' }).token)

  assert.equal(one.ad.advertiserId, 96)
  assert.deepEqual(new Set(Object.values(one.names)), new Set([null]))
  assert.deepEqual([one.ad.userId, one.ad.userLoggedInId], ['nobody', 'absent'])
  assert.deepEqual([other.ad.userId, other.ad.userLoggedInId], ['present', 'nobody'])
  assert.deepEqual([other.names.publisher, other.names.site], ['Shop', null])
})

test('what is no tracking data of this installation is refused with the field and the rule, and never repeated', async () => {
  const { token } = links.mint()
  const foreign = createMinter(createKeyRing()).mint(served).trackingData
  const bytes = Buffer.from(token, 'base64url')
  bytes.writeUInt8(bytes.readUInt8(40) ^ 1, 40)
  const cases: readonly (readonly [link: unknown, message: RegExp])[] = [
    [bytes.toString('base64url'), /^\/link must hold .* this was made elsewhere or changed$/],
    [`https://t.example/click/${foreign}`, /of a key in the key ring/],
    [token.slice(0, -1), /^\/link must hold/],
    [token.slice(0, 40), /whole and unchanged/],
    [`${token}é`, /whole and unchanged/],
    [`${token}${'A'.repeat(6_000)}`, /whole and unchanged/],
    ['hello', /whole and unchanged/],
    ['%00', /whole and unchanged/],
    ['https://t.example/', /behind \/impression\//],
    ['https://t.example/click', /behind \/impression\//],
    ['https://t.example/click/', /behind \/impression\//],
    [`https://t.example/clicks/${token}`, /behind \/impression\//],
    [`https://t.example/?u=/click/${token}`, /behind \/impression\//],
    ['mailto:somebody', /behind \/impression\//],
    ['   ', /behind \/impression\//],
    ['?', /behind \/impression\//],
    ['https://t.example/click/%zz', /percent escapes/],
    ['https://t.example/click/%ff', /percent escapes/],
    ['', /\/link must/],
    ['x'.repeat(servedAdLimits.linkLengthMax + 1), /\/link must/],
    [17, /\/link must/],
    [[token], /\/link must/],
    [null, /\/link must/],
    [undefined, /link/],
  ]
  for (const [link, message] of cases) {
    const [first = '', ...others] = await links.refused(link)
    assert.match(first, message)
    assert.deepEqual(others, [])
    assert.ok(!first.includes(token.slice(0, 20)) && !first.includes(foreign.slice(0, 20)))
  }
  for (const body of ['', '{', '[]', '"x"']) assert.equal((await links.ask(body)).status, 422, body)
})

test('the longest link that is taken is read, and so are two at once', async () => {
  const { token } = links.mint()
  const start = `https://t.example/click/${token}?`
  const longest = start.padEnd(servedAdLimits.linkLengthMax, 'x')

  const [one, other] = await Promise.all([links.read(longest), links.read(token)])

  assert.deepEqual(one, other)
})
