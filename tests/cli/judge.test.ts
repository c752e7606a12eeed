import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answerBy, answerWith, received, run, useCliServer } from './harness.ts'

useCliServer()

const tally = { looked: 9, lost: 3, gained: 0, otherReason: 1, voids: 0, unknown: 2, final: 0 }
const judgement = {
  id: 'j1',
  publisherId: 10,
  from: '2026-03-01T00:00:00.000Z',
  to: '2026-03-02T00:00:00.000Z',
  reason: 'forged',
  dryRun: true,
  policy: { conversionSources: [], requireKey: true, keys: 1 },
  requestedAt: '2026-03-03T00:00:00.000Z',
  state: 'done',
  doneAt: '2026-03-03T00:00:01.000Z',
  scan: 1,
  partsDone: 2,
  parts: 2,
  deliveries: tally,
  returns: { ...tally, looked: 0, lost: 0, otherReason: 0, unknown: 0 },
  lostCredit: [{ currency: 'EUR', purchases: 3, units: 7, value: '20.00' }],
  gainedValue: [{ currency: 'CHF', deliveries: 1, value: '1.50' }],
}
const argv = ['judge', '10', '--from', '2026-03-01T00:00:00Z', '--to', '2026-03-02T00:00:00Z']

test('a judgement is requested, waited for and told in text', async () => {
  answerWith(202, judgement)

  const { exitCode, stdout } = await run([...argv, '--reason', 'forged', '--dry-run', '--wait'])

  assert.equal(exitCode, 0)
  assert.equal(received[0]?.url, '/admin/v1/judgements')
  assert.deepEqual(JSON.parse(received[0]?.body ?? ''), {
    publisherId: 10,
    from: '2026-03-01T00:00:00Z',
    to: '2026-03-02T00:00:00Z',
    reason: 'forged',
    dryRun: true,
  })
  assert.equal(
    stdout,
    `Judgement j1 (dry run, changes nothing) is done: scan 1, 2 of 2 parts.
  deliveries of purchases: 9 looked at, 3 lost, 0 gained, 1 other reason, 2 not known how they came
  deliveries of returns: 0 looked at, 0 lost, 0 gained
  credit that would go: 20.00 EUR, 7 units of 3 purchases
  gained deliveries say: 1.50 CHF in 1 delivery
`
  )
})

test('a judgement is shown by its id, and all are listed', async () => {
  answerWith(200, { ...judgement, dryRun: false, state: 'settling' })
  const shown = await run(['judgements', 'show', 'j1'])
  answerWith(200, { judgements: [judgement] })
  const listed = await run(['judgements', 'list'])

  assert.match(shown.stdout, /^Judgement j1 waits to look once more/u)
  assert.match(listed.stdout, /j1 .*done/u)
})

test('who waits for a judgement on a terminal is told how far it is', async () => {
  const answers = [{ ...judgement, state: 'judging', partsDone: 1 }, judgement]
  answerBy(() => ({ status: 200, json: answers.shift() }))

  const { stderr } = await run([...argv, '--reason', 'forged', '--wait'], { isTTY: true })

  assert.equal(stderr, '\r\u001b[K1 of 2 parts\r\u001b[K')
})

for (const [wrong, message] of [
  [['judge', 'x'], 'PUBLISHER must be'],
  [['judge', '10'], '--from must say'],
  [argv, '--reason must say'],
] as const) {
  test(`shelftrace ${wrong.join(' ')} is not understood`, async () => {
    const { exitCode, stderr } = await run(wrong)

    assert.equal(exitCode, 2)
    assert.ok(stderr.includes(message), stderr)
  })
}
