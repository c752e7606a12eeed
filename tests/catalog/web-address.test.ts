import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isWebAddress } from '../../src/catalog/check-bundle.ts'

const good = [
  'https://shop.example/',
  'http://shop.example',
  'HTTPS://Shop.Example/a?b=c#d',
  'https://bücher.example/ä',
  'https://shop.example/?next=https://other@example/',
  'https://[2001:db8::1]:8443/x',
]

const bad = [
  '',
  'shop.example',
  '//shop.example/',
  'ftp://shop.example/',
  'javascript:alert(1)',
  'data:text/html,x',
  'https:/shop.example',
  'https:shop.example',
  'https://',
  'https:///path',
  'https://user@shop.example/',
  'https://user:pw@shop.example/',
  'https://@shop.example/',
  'https://shop.example\\@evil.example/',
  'https://shop.example/\n',
  ' https://shop.example/',
  'https://shop.example/a b',
  'https://shop.example/\u202egpj',
  'https://shop.example:99999/',
]

test('an absolute http(s) address with a host and without credentials passes', () => {
  for (const text of good) assert.equal(isWebAddress(text), true, text)
})

test('what a browser would run, bend or send credentials to does not pass', () => {
  for (const text of bad) assert.equal(isWebAddress(text), false, JSON.stringify(text))
})
