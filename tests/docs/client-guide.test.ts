import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { clientErrorKinds } from '../../src/client/client-error.ts'

const guide = readFileSync('docs/guides/client.md', 'utf8')

test('the guide lists every code, and says of each whether it may be tried again', () => {
  const listed = [...guide.matchAll(/^\| `([A-Z_]+)` .*\| (yes|no) +\|$/gmu)].map(
    ([, code, answer]) => [code, answer === 'yes'] as const
  )

  assert.deepEqual(
    Object.fromEntries(listed),
    Object.fromEntries(
      Object.entries(clientErrorKinds).map(([code, { isRetryable }]) => [code, isRetryable])
    )
  )
})
