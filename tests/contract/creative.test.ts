import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseCreativeRequest } from '../../src/contract/creative.ts'

const assetId = '123e4567-e89b-12d3-a456-426614174000'

function faults(body: unknown): readonly string[] {
  const parsed = parseCreativeRequest(body)
  return parsed.ok ? [] : parsed.messages
}

test('a creative size from 1 and an asset are taken', () => {
  assert.deepEqual(faults({ creativeSizeId: 1, assetId }), [])
  assert.deepEqual(faults({ creativeSizeId: 2147483647, assetId: assetId.toUpperCase() }), [])
})

test('a creative size below 1 or beyond int32 is refused', () => {
  assert.deepEqual(faults({ creativeSizeId: 0, assetId }), ['/creativeSizeId must be at least 1'])
  assert.deepEqual(faults({ creativeSizeId: 2147483648, assetId }), [
    '/creativeSizeId must be at most 2147483647',
  ])
  assert.deepEqual(faults({ creativeSizeId: '1', assetId }), ['/creativeSizeId must be integer'])
})

test('both fields are required', () => {
  assert.deepEqual(faults({}), ['/creativeSizeId is required', '/assetId is required'])
})
