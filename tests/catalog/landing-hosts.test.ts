import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  isAllowedLandingPage,
  landingHostFault,
  normalizeLandingHost,
} from '../../src/catalog/landing-hosts.ts'
import { parseCatalogBundle } from '../../src/contract/catalog-bundle.ts'

const spellings: readonly (readonly [given: string, stored: string])[] = [
  ['shop.example', 'shop.example'],
  ['SHOP.Example', 'shop.example'],
  ['*.Shop.example', '*.shop.example'],
  ['bücher.example', 'xn--bcher-kva.example'],
  ['*.bücher.example', '*.xn--bcher-kva.example'],
  ['a_b.shop.example', 'a_b.shop.example'],
  ['localhost', 'localhost'],
  ['203.0.113.7', '203.0.113.7'],
  ['[2001:DB8:0::1]', '[2001:db8::1]'],
]
test('a landing host is kept in the spelling that parsed addresses have', () => {
  for (const [given, stored] of spellings) {
    const normalized = normalizeLandingHost(given)
    assert.equal(normalized, stored)
    assert.equal(normalizeLandingHost(normalized), normalized)
    assert.equal(landingHostFault(normalized), null, given)
  }
})

test('what is no host, and what parsers would bend into another one, is refused', () => {
  const texts = [
    'https://shop.example',
    'shop.example:443',
    'shop.example/',
    'shop.example?x',
    'u@shop.example',
    'shop%2Eexample',
    'shop.example.',
    '.shop.example',
    'a..example',
    '-a.example',
    ' shop.example',
    'shop.exa\u200bmple',
    'shop\\.example',
    '*',
    '*.',
    '*shop.example',
    'a.*.example',
    '*.*.shop.example',
    '*.203.0.113.7',
    '*.[2001:db8::1]',
    '10.1',
    '0x7f.1',
    '2130706433',
    '[2001:db8::1',
    '2001:db8::1',
    `${'a'.repeat(64)}.example`,
  ]
  for (const text of texts) {
    assert.match(landingHostFault(normalizeLandingHost(text)) ?? '', /^must be a host/, text)
  }
})

test('subdomains of a single label are refused: anybody can have one', () => {
  for (const text of ['*.com', '*.Example', '*.localhost']) {
    assert.match(landingHostFault(normalizeLandingHost(text)) ?? '', /^must have two labels/, text)
  }
})

const pages: readonly (readonly [address: string, isAllowed: boolean])[] = [
  ['https://shop.example/p', true],
  ['http://SHOP.example:8443?x', true],
  ['https://bücher.example/', true],
  ['https://a.brand.example/', true],
  ['https://a.b.brand.example/', true],
  ['https://[2001:db8:0::1]/', true],
  ['https://brand.example/', false],
  ['https://evilbrand.example/', false],
  ['https://a.shop.example/', false],
  ['https://shop.example.evil.example/', false],
  ['https://shop.example@evil.example/', false],
  ['https://evil.example\\@shop.example/', false],
  ['https://evil.example/#https://shop.example/', false],
  ['https://shop.example./', false],
]
test('a landing page is allowed by its host alone, as browsers read it', () => {
  const hosts = ['shop.example', '*.brand.example', 'xn--bcher-kva.example', '[2001:db8::1]']
  for (const [address, isAllowed] of pages) {
    assert.equal(isAllowedLandingPage(address, hosts), isAllowed, address)
  }
})

function faultsOf(landingHosts: readonly string[]): readonly string[] {
  const parsed = parseCatalogBundle({ publishers: [{ id: 1, name: 'x', landingHosts }] })
  return parsed.ok ? [] : parsed.messages
}

test('a list has 1 to 100 hosts', () => {
  const hosts = Array.from({ length: 100 }, (_, index) => `s${index}.shop.example`)
  assert.deepEqual(faultsOf(hosts), [])
  assert.match(faultsOf([]).join(), /^\/publishers\/0\/landingHosts must have at least 1 /)
  assert.match(
    faultsOf([...hosts, 'one.example']).join(),
    /^\/publishers\/0\/landingHosts must have at most 100 /
  )
})
