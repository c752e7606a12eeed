// The sign-on by a proxy is configured whole, safely, or not at all.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseConfig } from '../src/config.ts'

const header = { SHELFTRACE_TRUSTED_USER_HEADER: 'X-Forwarded-Email' }
const whole = { ...header, SHELFTRACE_TRUSTED_USER_PROXIES: '127.0.0.1, 10.1.0.0/16,fd00::/64' }

test('it is off unless it is configured', () => {
  assert.equal(parseConfig({}).signOn, null)
})

test('addresses of the proxy are those listed, in every spelling, and no others', () => {
  const { signOn } = parseConfig(whole)

  assert.equal(signOn?.header, 'x-forwarded-email')
  assert.equal(signOn?.signOutUrl, null)
  for (const address of ['127.0.0.1', '10.1.255.255', 'fd00::1', '::ffff:10.1.0.1']) {
    assert.equal(signOn?.isProxy(address), true, address)
  }
  for (const address of ['127.0.0.2', '10.2.0.0', 'fd00:0:0:1::1', '::1']) {
    assert.equal(signOn?.isProxy(address), false, address)
  }
})

const broken: readonly (readonly [Record<string, string>, RegExp])[] = [
  [header, /SHELFTRACE_TRUSTED_USER_PROXIES must be set too/u],
  [{ ...whole, SHELFTRACE_TRUSTED_USER_PROXIES: '' }, /PROXIES must be set too/u],
  [
    { SHELFTRACE_TRUSTED_USER_PROXIES: '127.0.0.1' },
    /SHELFTRACE_TRUSTED_USER_HEADER must be set where SHELFTRACE_TRUSTED_USER_PROXIES is/u,
  ],
  [
    { SHELFTRACE_SIGN_OUT_URL: '/out' },
    /TRUSTED_USER_HEADER must be set where SHELFTRACE_SIGN_OUT/u,
  ],
  ...[
    '0.0.0.0/0',
    '::/0',
    '::/80',
    '10.0.0.0/7',
    '*',
    'localhost',
    '10.0.0.1/33',
    '10.0.0.1,',
    ',',
  ].map(
    (proxies) =>
      [
        { ...whole, SHELFTRACE_TRUSTED_USER_PROXIES: proxies },
        /SHELFTRACE_TRUSTED_USER_PROXIES must (?:be a CIDR range|not be wider than)/u,
      ] as const
  ),
  [
    {
      ...whole,
      SHELFTRACE_TRUSTED_USER_PROXIES: Array.from({ length: 101 }, () => '10.0.0.1').join(),
    },
    /at most 100 ranges/u,
  ],
  ...[
    'Authorization',
    'User-Agent',
    'X-Forwarded-For',
    'X-Real-IP',
    'Accept-Language',
    'Sec-Fetch-Site',
    'Shelftrace-Page',
    'Cookie',
    'X_Forwarded_Email',
    'X-Mail:',
    'X-Mail\r\nX',
    '-x-',
    'x'.repeat(70),
  ].map(
    (name) =>
      [
        { ...whole, SHELFTRACE_TRUSTED_USER_HEADER: name },
        /SHELFTRACE_TRUSTED_USER_HEADER must be the name of a header that only the proxy sets/u,
      ] as const
  ),
  ...[
    'javascript:alert(1)',
    '//evil.example',
    '/\\evil.example',
    'out',
    'data:x',
    '/a b',
    'https://',
  ].map(
    (url) =>
      [
        { ...whole, SHELFTRACE_SIGN_OUT_URL: url },
        /SHELFTRACE_SIGN_OUT_URL must be a path/u,
      ] as const
  ),
]

for (const [environment, fault] of broken) {
  test(`the node does not start with ${JSON.stringify(environment).slice(0, 150)}`, () => {
    assert.throws(() => parseConfig(environment), fault)
  })
}

test('signing out leads to a path of the same host or to another address', () => {
  for (const url of [
    '/oauth2/sign_out?rd=%2F',
    'https://sso.example/logout',
    '/cdn-cgi/access/logout',
  ]) {
    assert.equal(parseConfig({ ...whole, SHELFTRACE_SIGN_OUT_URL: url }).signOn?.signOutUrl, url)
  }
})

for (const name of [
  'Cf-Access-Authenticated-User-Email',
  'X-Goog-Authenticated-User-Email',
  'Remote-Email',
]) {
  test(`${name} may be the header`, () => {
    const { signOn } = parseConfig({ ...whole, SHELFTRACE_TRUSTED_USER_HEADER: name })
    assert.equal(signOn?.header, name.toLowerCase())
  })
}
