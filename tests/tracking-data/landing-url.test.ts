import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isLandingUrl } from '../../src/tracking-data/landing-url.ts'

const pieces = fc.constantFrom('a', 'shop', 'xn', '0', '1', '0x', '.', '-', ':', '8', '/', '?', '#')
const others = fc.constantFrom('@', '[', ']', '%', '|', '\\', ' ', '\u0000', 'ä', 'xn--', '..', '')

test('an address is taken only if every parser takes it, however its host is spelled', () => {
  const tail = fc.array(fc.oneof({ weight: 6, arbitrary: pieces }, others), { maxLength: 10 })
  fc.assert(
    fc.property(fc.constantFrom('https://', 'HTTP://', 'http:/', ''), tail, (scheme, parts) => {
      const text = scheme + parts.join('')

      if (isLandingUrl(text)) assert.ok(URL.canParse(text) && new URL(text).host !== '', text)
    }),
    { numRuns: 20_000 }
  )
})

test('addresses of shops are taken, with port, path, query and fragment', () => {
  for (const text of [
    'https://shop.example',
    'HTTPS://Shop.Example:8443/p/1?q=a@b#x',
    'http://my-shop.example/?a=[1]',
    'https://127.0.0.1/',
    'https://xn--bcher-kva.example/',
    'https://[::1]:80/',
  ]) {
    assert.ok(isLandingUrl(text), text)
  }
})
