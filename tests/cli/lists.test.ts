import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answerWith, received, run, useCliServer } from './harness.ts'

useCliServer()

const conflict = {
  kind: 'purchase',
  publisherId: 10,
  transactionId: 't-1',
  deliveries: 3,
  voidDeliveries: 1,
  firstReceivedAt: '2026-03-02T10:00:00.000Z',
  lastReceivedAt: '2026-03-02T11:00:00.000Z',
}

test('conflicts are listed as a table that says how many are not shown', async () => {
  answerWith(200, {
    conflicts: [conflict, { ...conflict, kind: 'return', returnId: 'r-1', voidDeliveries: 0 }],
    total: 7,
  })

  const { exitCode, stdout } = await run(['conflicts', '--limit', '2'])

  assert.equal(exitCode, 0)
  assert.match(
    stdout,
    /^KIND +PUBLISHER ID +TRANSACTION ID +RETURN ID +DELIVERIES +VOID DELIVERIES +FIRST RECEIVED AT +LAST RECEIVED AT\n/
  )
  assert.match(stdout, /10 +t-1 +- +3 +1 +2026-03-02T10:00:00\.000Z +2026-03-02T11:00:00\.000Z\n/)
  assert.match(stdout, /10 +t-1 +r-1 +3 +0 /)
  assert.ok(stdout.endsWith('\n2 of 7 are shown.\n'))
  assert.equal(received[0]?.url, '/admin/v1/conflicts?limit=2')
})

test('no conflict is told in words, and a limit out of bounds is refused before anything is asked', async () => {
  answerWith(200, { conflicts: [], total: 0 })

  const none = await run(['conflicts'])
  const refused = await run(['conflicts', '--limit', '1001'])

  assert.equal(none.stdout, 'No purchase and no return was repeated with different content.\n')
  assert.match(refused.stderr, /--limit must be at most 1000/)
  assert.deepEqual(
    received.map(({ url }) => url),
    ['/admin/v1/conflicts']
  )
})

test('unknown ids are listed with what they are named under, and a list that is not complete says so', async () => {
  answerWith(200, {
    ids: [
      { kind: 'site', id: 102, parentId: 10, events: 5, conversions: 2 },
      { kind: 'market', id: 0, events: 4 },
    ],
    total: 9,
    complete: false,
  })

  const { exitCode, stdout } = await run(['unknown-ids'])

  assert.equal(exitCode, 0)
  assert.match(stdout, /^KIND +ID +PARENT ID +EVENTS +CONVERSIONS\n/)
  assert.match(stdout, /site +102 +10 +5 +2\n/)
  assert.match(stdout, /market +0 +- +4 +-\n/)
  assert.match(stdout, /\n2 of 9 are shown\.\nToo many different ids/)
})

test('a catalog that has every id is told so, unless not every id was looked at', async () => {
  answerWith(200, { ids: [], total: 0, complete: true })
  const every = await run(['unknown-ids'])
  answerWith(200, { ids: [], total: 0, complete: false })
  const some = await run(['unknown-ids'])

  assert.equal(every.stdout, 'The catalog has every id.\n')
  assert.match(some.stdout, /^No unknown id was found\.\nToo many different ids/)
})
