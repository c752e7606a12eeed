// Who is let in by the header of a proxy, and who is not.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { identify, type SignOn } from '../../src/access/sign-on.ts'
import type { AccessKey } from '../../src/access/key.ts'
import { hostileTexts } from '../fuzz/hostile.ts'
import { aKey } from '../campaign/harness.ts'

const anna = aKey({ id: 'key_anna', name: 'anna@example.com', isSignOn: true })
const bob = aKey({ id: 'key_bob', name: 'bob@example.com', isSignOn: true })
const program = aKey({ id: 'key_program' })
const asked: string[] = []
const keys = {
  find: (token: string) => (token === 'st_good' ? program : null),
  findRefused: () => null,
  findPerson: (person: string) => {
    asked.push(person)
    return [anna, bob].find(({ name }) => name === person) ?? null
  },
  isValid: (key: AccessKey) => key.id !== bob.id,
}
const signOn: SignOn = {
  header: 'x-forwarded-email',
  isProxy: (address) => address === '192.0.2.9',
}
const page = ['shelftrace-page', '1']
const named = ['X-Forwarded-Email', 'anna@example.com']
const pageOf = (person: string) => ['shelftrace-page', person]

function ask(
  rawHeaders: readonly string[],
  { from = '192.0.2.9', by = signOn }: { from?: string | null; by?: SignOn | null } = {}
) {
  const answer = identify({ rawHeaders, directAddress: from }, { keys, signOn: by })
  return answer.ok ? answer.key.id : `${answer.code} ${answer.reason} ${answer.keyId}`
}

test('whom the proxy names is let in with the rights of that person, in whatever case the address is written', () => {
  for (const header of [named, ['x-forwarded-email', 'ANNA@Example.COM']]) {
    assert.equal(ask([...header, ...page]), 'key_anna')
  }
})

test('nobody is let in by the header without configuration, from another address, or once the connection is gone', () => {
  assert.match(ask([...named, ...page], { by: null }), /^KEY_MISSING/u)
  for (const from of ['192.0.2.10', '127.0.0.1', '::1', null]) {
    assert.equal(ask([...named, ...page], { from }), 'SIGN_ON_REFUSED foreign-sign-on null')
  }
})

test('what was forwarded does not make an address the address of the proxy', () => {
  const forwarded = [
    'X-Forwarded-For',
    '192.0.2.9',
    'Forwarded',
    'for=192.0.2.9',
    'X-Real-IP',
    '192.0.2.9',
  ]

  assert.match(ask([...forwarded, ...named, ...page], { from: '203.0.113.1' }), /foreign-sign-on/u)
})

test('two headers, or one that is not exactly one address, name nobody', () => {
  const before = asked.length
  const malformed = [
    '',
    ' ',
    'anna',
    '@example.com',
    'anna@',
    'anna@example.com, bob@example.com',
    'anna@example.com,',
    'anna@example.com bob',
    ' anna@example.com',
    'anna@example.com\u00a0',
    'anna@example.com\u0000',
    'anna@example.com\r\nx: y',
    'anna@example.com@example.com',
    'änna@example.com',
    // The sign of Kelvin, which is a small k in small letters.
    '\u212aim@example.com',
    `${'a'.repeat(65)}@example.com`,
    `a@${'b'.repeat(190)}`,
    'a'.repeat(100_000),
    ...hostileTexts.filter((text) => !/^[^@\s]+@[^@\s]+$/u.test(text)),
  ]
  for (const text of malformed) {
    const answer = ask(['x-forwarded-email', text, ...page])
    assert.equal(
      answer,
      'SIGN_ON_REFUSED malformed-sign-on null',
      JSON.stringify(text.slice(0, 60))
    )
  }
  for (const second of ['anna@example.com', 'bob@example.com', '']) {
    assert.match(ask([...named, 'x-forwarded-EMAIL', second, ...page]), /malformed-sign-on/u)
  }
  assert.equal(asked.length, before)
})

test('a header that is only spelled alike is none', () => {
  for (const name of ['x_forwarded_email', 'x-forwarded-email2', 'x-forwarded-user']) {
    assert.match(ask([name, 'anna@example.com', ...page]), /^KEY_MISSING/u)
  }
})

test('a call that another site makes the browser send is refused, whatever the method', () => {
  assert.match(ask(named), /^CROSS_SITE_REFUSED cross-site/u)
  for (const site of ['cross-site', 'same-site', 'none', '']) {
    assert.match(ask([...named, ...page, 'Sec-Fetch-Site', site]), /^CROSS_SITE_REFUSED/u)
  }
  const twice = ['Sec-Fetch-Site', 'same-origin', 'sec-fetch-site', 'cross-site']
  assert.match(ask([...named, ...page, ...twice]), /^CROSS_SITE_REFUSED/u)
  assert.equal(ask([...named, ...page, 'Sec-Fetch-Site', 'same-origin']), 'key_anna')
})

test('a call of a page that says who is signed in is refused once that is somebody else, with access or without', () => {
  assert.equal(ask([...named, ...pageOf('anna@example.com')]), 'key_anna')
  assert.equal(ask([...named, ...pageOf('ANNA@Example.com')]), 'key_anna')
  const before = asked.length
  for (const other of ['bob@example.com', 'carl@example.com']) {
    const refusal = 'PERSON_CHANGED changed-person null'
    assert.equal(ask([...named, ...pageOf(other)]), refusal)
    assert.equal(ask([...named, ...pageOf('anna@example.com'), ...pageOf(other)]), refusal)
    assert.equal(ask(['X-Forwarded-Email', other, ...pageOf('anna@example.com')]), refusal)
  }
  assert.equal(asked.length, before)
  // Programs, and pages that do not know it yet, say nobody.
  assert.equal(ask([...named, ...page]), 'key_anna')
})

test('who has no access, or none any more, is told for whom to ask; a former one is named in the log', () => {
  const unknown = ['x-forwarded-email', 'carl@example.com', ...page]
  const answer = identify({ rawHeaders: unknown, directAddress: '192.0.2.9' }, { keys, signOn })

  assert.ok(!answer.ok)
  assert.match(answer.message, /ask your operator to give carl@example\.com access/u)
  assert.equal(ask(unknown), 'PERSON_UNKNOWN unknown-person null')
  const former = ['x-forwarded-email', 'bob@example.com', ...page]
  assert.equal(ask(former), 'PERSON_UNKNOWN unknown-person key_bob')
})

test('a key goes before the sign-on, right or wrong, from wherever it comes', () => {
  const key = ['Authorization', 'Bearer st_good']
  for (const from of ['192.0.2.9', '203.0.113.1']) {
    assert.equal(ask([...named, ...key], { from }), 'key_program')
    assert.match(ask([...named, ...page, 'Authorization', 'Bearer x'], { from }), /^KEY_INVALID/u)
    assert.match(ask([...named, ...page, ...key, ...key], { from }), /^KEY_MALFORMED/u)
  }
})

test('who vouches is cut off the address for the header of Google only, where nobody else can write it', () => {
  const google = { ...signOn, header: 'x-goog-authenticated-user-email' }
  const value = 'accounts.google.com:anna@example.com'

  assert.equal(ask(['X-Goog-Authenticated-User-Email', value, ...page], { by: google }), 'key_anna')
  assert.match(ask(['x-forwarded-email', value, ...page]), /^PERSON_UNKNOWN/u)
  const doubled = ['x-goog-authenticated-user-email', `accounts.google.com:${value}`]
  assert.match(ask([...doubled, ...page], { by: google }), /^PERSON_UNKNOWN/u)
})
