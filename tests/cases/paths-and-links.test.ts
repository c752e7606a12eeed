// Neighbours of faults that other trackers are known for: what happens to a link on its way.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { anAd, startTracker } from '../tracking/fixture.ts'

type Spoil = (token: string) => string

/** What mail programs, proxies, templates and analytics tools make of a link. */
const spoilt: readonly (readonly [string, Spoil])[] = [
  ['a parameter appended with &', (token) => `${token}&__hstc=1`],
  ['a parameter appended with ;', (token) => `${token};jsessionid=1`],
  ['a session in a matrix parameter', (token) => `${token};a=b;c`],
  ['a full stop at its end', (token) => `${token}.`],
  ['a closing bracket at its end', (token) => `${token})`],
  ['quotes around it', (token) => `%22${token}%22`],
  ['angle brackets around it', (token) => `%3C${token}%3E`],
  ['a soft line break', (token) => `${token.slice(0, 76)}=%0D%0A${token.slice(76)}`],
  ['quoted-printable equals signs', (token) => `${token}=3D`],
  ['a blank', (token) => `${token.slice(0, 9)}%20${token.slice(9)}`],
  ['a zero byte', (token) => `${token}%00`],
  ['a zero byte that is escaped twice', (token) => `${token}%2500`],
  [
    'every escape escaped again',
    (token) => [...Buffer.from(token)].map((byte) => `%25${byte.toString(16)}`).join(''),
  ],
  ['capitals', (token) => token.toUpperCase()],
  ['small letters', (token) => token.toLowerCase()],
  ['a template that was not filled', () => '{trackingData}'],
  ['a template that printed nothing', () => 'undefined'],
  ['an address instead of a token', () => 'https%3A%2F%2Fevil.example'],
  ['an escaped per cent', () => '%2525'],
  ['letters that look alike', (token) => `${token.slice(0, 5)}%D0%B0${token.slice(6)}`],
  ['wide letters', (token) => `%EF%BC%A1${token.slice(1)}`],
  ['a mark of the byte order', (token) => `%EF%BB%BF${token}`],
  ['itself twice', (token) => token + token],
  ['its middle missing', (token) => token.slice(0, 40) + token.slice(-40)],
  ['hex instead of base64', (token) => Buffer.from(token, 'base64url').toString('hex')],
]

for (const [name, spoil] of spoilt) {
  test(`a link with ${name} is 400 by every method, leads nowhere and counts nothing`, async (t) => {
    const tracker = await startTracker(t)
    const segment = spoil(tracker.mint())

    for (const kind of ['impression', 'click', 'load']) {
      for (const method of ['POST', 'GET', 'HEAD']) {
        const { status, headers } = await tracker.send(method, `/${kind}/${segment}`)
        assert.equal(status, 400, `${method} ${kind}`)
        assert.equal(headers.location, undefined)
      }
    }

    assert.equal(tracker.records().length, 0)
  })
}

const kept: readonly (readonly [string, Spoil])[] = [
  [
    'parameters behind a question mark',
    (token) => `${token}?__hstc=1.2.3&fbclid=x%26y&utm_source=a`,
  ],
  ['a parameter with a broken escape', (token) => `${token}?gclid=%`],
  ['a question mark alone', (token) => `${token}?`],
  ['an address of a page in a parameter', (token) => `${token}?url=https://evil.example`],
  [
    'every character escaped',
    (token) => [...Buffer.from(token)].map((byte) => `%${byte.toString(16)}`).join(''),
  ],
  ['the padding of base64', (token) => token + '='.repeat((4 - (token.length % 4)) % 4)],
]

for (const [name, change] of kept) {
  test(`a link with ${name} leads to the very page of the ad and is the same event`, async (t) => {
    const tracker = await startTracker(t)
    const token = tracker.mint()

    const plain = await tracker.send('GET', `/click/${token}`)
    const changed = await tracker.send('GET', `/click/${change(token)}`)

    for (const { status, headers } of [plain, changed]) {
      assert.deepEqual([status, headers.location], [302, anAd.landingUrl])
      assert.equal(headers['cache-control'], 'no-store')
    }
    assert.equal(tracker.adEvents().length, 1)
  })
}

test('an address that goes through a proxy in its absolute form never decides where a click leads', async (t) => {
  const tracker = await startTracker(t)
  const token = tracker.mint()

  const answer = await tracker.raw(
    `GET http://evil.example/click/${token} HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n`
  )

  assert.match(answer, /^HTTP\/1\.1 302 /)
  assert.ok(answer.includes(`location: ${anAd.landingUrl}\r\n`))
  assert.ok(!answer.includes('evil'))
})
