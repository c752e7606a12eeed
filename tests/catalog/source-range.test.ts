import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sourceRangeFault } from '../../src/catalog/trusted-sources.ts'

const everybody = [
  '0.0.0.0/0',
  '0.0.0.0/1',
  '128.0.0.0/1',
  '8.0.0.0/7',
  '::/0',
  '2000::/3',
  '2a00::/15',
  '::ffff:0.0.0.0/96',
  '::ffff:8.0.0.0/103',
  '::/16',
  '::/80',
  '::ffff:0.0.0.0/95',
  '::ffff:0:0/96',
  '0:0:0:0:0:FFFF:0:0/96',
]
for (const range of everybody) {
  test(`a list of senders takes no range that nearly everybody is in: ${range}`, () => {
    assert.match(sourceRangeFault(range) ?? '', /must not be wider than \/8/)
  })
}

for (const range of [
  '10.0.0.0/8',
  '203.0.113.7',
  '2a00::/16',
  '2001:db8::1',
  '::ffff:10.0.0.0/104',
  '::ffff:cb00:7100/120',
  '::1',
]) {
  test(`a list of senders takes ${range}`, () => {
    assert.equal(sourceRangeFault(range), null)
  })
}
