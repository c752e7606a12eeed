import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import {
  checkAd,
  createKeyRing,
  createMinter,
  createOpener,
  type ServedAd,
  TrackingDataError,
} from '../../src/tracking-data/tracking-data.ts'
import { anAd, createTestRandom, servedAtMs, validData } from './builders.ts'

const ring = createKeyRing()
const opener = createOpener(ring)
const minter = createMinter(ring, { clock: () => servedAtMs })

function open(token: string) {
  const opened = opener.open(token)
  assert.ok(opened.ok)
  return opened
}

function prefixOf(token: string): string {
  return Buffer.from(token, 'base64url').toString('hex', 5, 17)
}

test('every valid ad opens as it was minted, under the id that was handed out', () => {
  const mintable = validData.filter(({ gtin }) => gtin.trim() !== '')
  fc.assert(
    fc.property(mintable, ({ servedAdId: _id, ...ad }) => {
      const { servedAdId, trackingData } = minter.mint(ad)
      const opened = open(trackingData)

      assert.deepEqual(opened.data, { ...ad, servedAdId })
      assert.equal(opened.canonical, trackingData)
      assert.match(trackingData, /^[A-Za-z0-9_-]+$/)
    })
  )
})

test('the longest ad that passes the rules fits into a token', () => {
  const wide = '\u{1F600}'
  const ad = anAd({
    gtin: wide.repeat(60),
    groupId: wide.repeat(60),
    userId: wide.repeat(128),
    userLoggedInId: wide.repeat(128),
    publisherId: 2_147_483_647,
    siteId: 2_147_483_647,
    marketId: 2_147_483_647,
    advertiserId: 2_147_483_647,
    campaignId: 2_147_483_647,
    adGroupId: 2_147_483_647,
    servedAtMs: Date.UTC(2100, 0, 1),
    costPerClickMicros: 10n ** 12n,
    costPerMilleMicros: 10n ** 12n,
    landingUrl: `https://shop.example/${'a'.repeat(2_048 - 21)}`,
  })

  const { trackingData } = minter.mint(ad)

  assert.equal(open(trackingData).data.landingUrl, ad.landingUrl)
  assert.ok(trackingData.length <= 5_462)
})

test('what the ad leaves out is now, or none', () => {
  const { servedAtMs: _at, groupId: _g, userLoggedInId: _u, landingUrl: _l, ...bare } = anAd()

  const { data } = open(minter.mint(bare).trackingData)

  assert.equal(data.servedAtMs, servedAtMs)
  assert.deepEqual([data.groupId, data.userLoggedInId, data.landingUrl], ['', '', ''])
})

test('the same ad minted twice is two ads', () => {
  const [first, second] = [minter.mint(anAd()), minter.mint(anAd())]

  assert.notEqual(first.servedAdId, second.servedAdId)
  assert.notEqual(first.trackingData, second.trackingData)
})

test('the nonce prefix is kept up to its limit and then drawn anew', () => {
  const limited = createMinter(ring, { tokensPerPrefixMax: 3 })
  const prefixes = Array.from({ length: 9 }, () => prefixOf(limited.mint(anAd()).trackingData))

  assert.equal(new Set(prefixes).size, 3)
  for (const start of [0, 3, 6]) {
    assert.equal(new Set(prefixes.slice(start, start + 3)).size, 1)
  }
})

test('two minters share no prefix, and no two tokens share a nonce', () => {
  const others = [createMinter(ring), createMinter(ring)]
  const tokens = others.flatMap((each) => Array.from({ length: 500 }, () => each.mint(anAd())))
  const nonces = tokens.map(({ trackingData }) =>
    Buffer.from(trackingData, 'base64url').toString('hex', 5, 29)
  )

  assert.equal(new Set(tokens.map(({ trackingData }) => prefixOf(trackingData))).size, 2)
  assert.equal(new Set(nonces).size, 1_000)
})

test('a prefix limit of zero, a fraction or beyond 2^24 is a programming error', () => {
  for (const tokensPerPrefixMax of [0, 1.5, 16_777_217]) {
    assert.throws(() => createMinter(ring, { tokensPerPrefixMax }), /tokensPerPrefixMax/)
  }
})

test('with the same random bytes the same token comes out', () => {
  const [first, second] = ['a', 'a'].map((seed) =>
    createMinter(ring, { random: createTestRandom(seed) }).mint(anAd())
  )

  assert.deepEqual(first, second)
})

test('a bound active key mints only for its publishers, and says so before', () => {
  const bound = createMinter(createKeyRing({ publishers: [10, 20] }))
  const foreign = anAd({ publisherId: 30 })

  assert.deepEqual(bound.check(anAd({ publisherId: 20 })), [])
  assert.deepEqual(bound.check(foreign), ['/publisherId must be a publisher the active key is for'])
  assert.deepEqual(checkAd(foreign), [])
  assert.throws(() => bound.mint(foreign), {
    name: 'TrackingDataError',
    message: 'invalid ad: /publisherId must be a publisher the active key is for',
    field: '/publisherId',
  })
})

test('a broken rule is thrown with its field, and the message never holds the value', () => {
  const ad = anAd({ userId: 'secret'.repeat(30), gtin: '', siteId: 0 })

  assert.throws(
    () => minter.mint(ad),
    (error) => {
      assert.ok(error instanceof TrackingDataError)
      assert.deepEqual(
        error.faults.map(({ field }) => field),
        ['/siteId', '/gtin', '/userId']
      )
      assert.match(error.message, /\/gtin must be text of 1 to 60 characters/)
      assert.doesNotMatch(error.message, /secret/)
      return true
    }
  )
})

const broken: Record<string, readonly unknown[]> = {
  servedAtMs: [Date.UTC(2020, 0, 1) - 1, Date.UTC(2100, 0, 1) + 1, 1.6e12 + 0.5, Number.NaN, '1'],
  publisherId: [0, -1, 1.5, 2_147_483_648, Number.NaN, '10', 10n, undefined, null],
  siteId: [0],
  marketId: [0],
  advertiserId: [0],
  campaignId: [0],
  adGroupId: [0],
  gtin: [
    '',
    '  ',
    '\t\n',
    '\u00A0',
    '1'.repeat(61),
    '\u{1F600}'.repeat(61),
    'a\0b',
    'a\uD800',
    '\uDC00a',
    4006381333931,
  ],
  groupId: ['1'.repeat(61), '\0', '\uD83D', 5],
  userId: ['1'.repeat(129), '\0', '\uDE00\uD83D', undefined, null],
  userLoggedInId: ['1'.repeat(129), 7],
  currency: ['', 'EU', 'EURO', 'eur', 'EU1', 'ÄÖÜ', 'EUR\n', undefined, ['EUR']],
  costPerClickMicros: [-1n, 10n ** 12n + 1n, 1, 0.25, '1', undefined],
  costPerMilleMicros: [-1n, 10n ** 12n + 1n, undefined],
  landingUrl: [
    'shop.example',
    '/coffee',
    '//shop.example/',
    'https:shop.example',
    'https:/shop.example',
    'https://',
    'https:///path',
    'https://?x',
    'https://:443/',
    'ftp://shop.example/',
    'javascript:alert(1)',
    'data:text/html,x',
    'https://user@shop.example/',
    'https://user:password@shop.example/',
    'https://@shop.example/',
    'https://ü@shop.example/',
    'https://shop.example＠evil.example/',
    'https://shop.example\\@evil.example/',
    'https:\\\\shop.example/',
    'https://shop%40evil.example/a b',
    'https://shop%2Fevil.example/',
    'https://shop.example:99999/',
    'https://[::1/',
    ' https://shop.example/',
    'https://shop.example/ ',
    'https://shop.example/\r\nset-cookie: a=b',
    'https://shop.example/\t',
    'https://shop.example/\0',
    'https://shop.example/\uD800',
    'https://shop.example/\u202Egpj',
    `https://shop.example/${'a'.repeat(2_028)}`,
    `https://shop.example/${'ä'.repeat(400)}`,
    5,
    ['https://shop.example/'],
  ],
}

for (const [field, values] of Object.entries(broken)) {
  test(`an ad with a broken ${field} is refused, and only that field is named`, () => {
    for (const value of values) {
      // The type forbids most of these; a caller in JavaScript is not held by it.
      const ad = { ...anAd(), [field]: value } as ServedAd

      const faults = checkAd(ad)

      assert.equal(faults.length, 1, `${typeof value} ${String(value)}`)
      assert.ok(faults[0]?.startsWith(`/${field} must be `))
      assert.throws(() => minter.mint(ad), TrackingDataError)
    }
  })
}

test('landing pages with port, query, fragment, IP address or capitals are kept as they are', () => {
  const urls = [
    'https://shop.example',
    'HTTPS://Shop.Example/A',
    'http://127.0.0.1:8080/?a=b@c#d@e',
    'https://[::1]/x?y=%20\'"<>[]{}|^`',
    'https://shop.example?x=1',
    'https://shop.example/@brand/coffee',
  ]
  for (const landingUrl of urls) {
    assert.equal(open(minter.mint(anAd({ landingUrl })).trackingData).data.landingUrl, landingUrl)
  }
})

// A Location header holds ASCII only.
test('a landing page beyond ASCII is sealed percent-encoded, with its host in punycode', () => {
  const { data } = open(minter.mint(anAd({ landingUrl: 'https://käse.example/ä?ö' })).trackingData)

  assert.equal(data.landingUrl, 'https://xn--kse-qla.example/%C3%A4?%C3%B6')
})

test('an id of the served ad cannot be given: minting the same ad twice makes two', () => {
  const ad = { ...anAd(), servedAdId: 'ab'.repeat(16) }

  assert.deepEqual(checkAd(ad), ['/servedAdId must be absent: minting makes it'])
  assert.throws(() => minter.mint(ad), TrackingDataError)
})

test('a field that nobody knows is refused by name, with the nearest known one', () => {
  const ad = { ...anAd(), landingURL: 'https://shop.example/', servedAt: '2026-03-02T10:00:00Z' }
  const told = [
    '/landingURL is not known here; did you mean landingUrl?',
    '/servedAt is not known here; did you mean servedAtMs?',
  ]

  assert.throws(() => minter.mint(ad), TrackingDataError)
  assert.deepEqual(minter.check(ad), told)
  assert.deepEqual(checkAd(ad), told)
  assert.throws(() => createMinter(ring, { clocks: 1 } as never), {
    message: 'invalid minter options: /clocks is not known here; did you mean clock?',
  })
  assert.throws(() => createKeyRing({ publisher: [10] } as never), {
    message: 'invalid key ring: /publisher is not known here; did you mean publishers?',
  })
})

test('the name of a field is repeated only where it is a name', () => {
  const ad = { ...anAd(), ['user 1@example.com\n']: 1 }

  assert.deepEqual(checkAd(ad), ['/? is not known here'])
})
