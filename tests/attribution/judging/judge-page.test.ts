import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forgottenFromMs, judgePage } from '../../../src/attribution/judging/judge-page.ts'
import type { PageRow } from '../../../src/attribution/judging/judge-page.ts'
import type { StoredJudgement } from '../../../src/attribution/judging/judgement-requests.ts'
import { addTallies, noCounts, noTally } from '../../../src/attribution/judging/tally.ts'
import { keyedPolicy, openPolicy } from '../../helpers/incident.ts'

const requestedAt = '2026-03-10 12:00:00.000000'
const receivedAtMs = Date.UTC(2026, 2, 2, 12)

const aJudgement: StoredJudgement = {
  id: 'm',
  publisherId: 10,
  fromMs: receivedAtMs,
  toMs: receivedAtMs + 1,
  reason: 'a test',
  isDryRun: false,
  assume: null,
  pinned: { policy: keyedPolicy, keys: [] },
  requestedAt,
  keyId: '',
  keyName: '',
  isDone: false,
  changedAt: requestedAt,
}

const aRow: PageRow = {
  purchaseKey: '1'.repeat(32),
  deliveryId: '2'.repeat(32),
  receivedAtMs,
  stored: 'valid',
  origin: 'live',
  keyId: '',
  address: '192.0.2.1',
  currency: 'EUR',
  value: '10',
  judged: '',
  judgementId: '',
  judgedAt: '',
}

interface Case {
  readonly law: string
  readonly row?: Partial<PageRow>
  readonly judgement?: Partial<StoredJudgement>
  readonly isFinal?: boolean
  readonly nowMs?: number
  /** What it is counted as, and the verdict that is written. */
  readonly found: readonly [kind: string, verdict: string | null]
}

const listed = { policy: { ...openPolicy, sources: ['192.0.2.0/24'] }, keys: [] }
const open = { pinned: { policy: openPolicy, keys: [] } }
const untrusted = { stored: 'untrusted-source' }

const cases: readonly Case[] = [
  {
    law: 'a delivery without a key is lost where one is required',
    found: ['lost', 'unauthenticated'],
  },
  { law: 'a backfill always counts', row: { origin: 'backfill' }, found: ['', null] },
  {
    law: 'a delivery that did not count for another reason is told the reason of now',
    row: untrusted,
    found: ['otherReason', 'unauthenticated'],
  },
  {
    law: 'a delivery that is believed now is gained',
    row: untrusted,
    judgement: open,
    found: ['gained', 'valid'],
  },
  {
    law: 'what would be gained in a final day stays as it is',
    row: untrusted,
    judgement: open,
    isFinal: true,
    found: ['final', null],
  },
  {
    law: 'what is lost in a final day is judged, so that it hides nothing any more',
    isFinal: true,
    found: ['lost', 'unauthenticated'],
  },
  {
    law: 'a void stays, whatever the policy says',
    row: { judged: 'void', judgementId: 'a', judgedAt: '2026-03-03 00:00:00.000000' },
    judgement: open,
    found: ['voids', null],
  },
  {
    law: 'what came too late stays so',
    row: { stored: 'too-late' },
    judgement: open,
    found: ['', null],
  },
  {
    law: 'a judgement that was requested later decides',
    row: { judged: 'valid', judgementId: 'a', judgedAt: '2026-03-10 12:00:00.000001' },
    found: ['', null],
  },
  {
    law: 'of two judgements of one instant the greater id decides',
    row: { judged: 'valid', judgementId: 'n', judgedAt: requestedAt },
    found: ['', null],
  },
  {
    law: 'of two judgements of one instant the smaller id gives way',
    row: { judged: 'valid', judgementId: 'l', judgedAt: requestedAt },
    found: ['lost', 'unauthenticated'],
  },
  {
    law: 'a delivery of which it is not known how it came keeps its verdict',
    row: { origin: 'unknown', address: '' },
    found: ['unknown', null],
  },
  {
    law: 'it is taken as live without an address if the operator says so',
    row: { origin: 'unknown', address: '' },
    judgement: { assume: 'live-without-address', pinned: listed },
    found: ['lost', 'untrusted-source'],
  },
  {
    law: 'it is taken as a backfill if the operator says so',
    row: { origin: 'unknown', address: '', stored: 'unauthenticated' },
    judgement: { assume: 'backfill' },
    found: ['gained', 'valid'],
  },
  {
    law: 'an address that was never known is on no list',
    row: { address: '' },
    judgement: { pinned: listed },
    nowMs: forgottenFromMs(receivedAtMs) - 1,
    found: ['lost', 'untrusted-source'],
  },
  {
    law: 'an address that is not kept any more proves nothing where a list decides',
    row: { address: '' },
    judgement: { pinned: listed },
    nowMs: forgottenFromMs(receivedAtMs),
    found: ['unknown', null],
  },
  {
    law: 'without a list nobody asks for an address',
    row: { address: '', stored: 'unauthenticated' },
    judgement: open,
    nowMs: forgottenFromMs(receivedAtMs),
    found: ['gained', 'valid'],
  },
]

test('an address counts as dropped from the midnight on at which the warehouse may drop it', () => {
  const midnightMs = Date.UTC(2026, 4, 31)
  for (const atMs of [Date.UTC(2026, 2, 2), receivedAtMs, Date.UTC(2026, 2, 3) - 1]) {
    assert.equal(forgottenFromMs(atMs), midnightMs)
  }
})

for (const { law, row, judgement, isFinal = false, nowMs = receivedAtMs, found } of cases) {
  test(law, () => {
    const page = judgePage([{ ...aRow, ...row }], {
      judgement: { ...aJudgement, ...judgement },
      isFinal: () => isFinal,
      day: '2026-03-02',
      nowMs,
    })

    const [kind, verdict] = found
    const counted =
      kind === 'lost' && isFinal ? { lost: 1, final: 1 } : kind === '' ? {} : { [kind]: 1 }
    assert.deepEqual(page.tally.counts, { ...noCounts, looked: 1, ...counted })
    assert.equal(page.changes[0]?.verdict ?? null, verdict)
    assert.equal(page.tally.changed, verdict === null ? 0 : 1)
  })
}

test('what the judgement wrote itself is its own and counts, also where it agrees with the verdict of the shipping', () => {
  const own = { judgementId: 'm', judgedAt: requestedAt }
  const rows = [
    { ...aRow, ...own, judged: 'unauthenticated' },
    { ...aRow, ...own, judged: 'unauthenticated', stored: 'unauthenticated' },
  ]
  const context = {
    judgement: aJudgement,
    isFinal: () => false,
    day: '2026-03-02',
    nowMs: receivedAtMs,
  }

  const page = judgePage(rows, context)

  assert.deepEqual([page.changes.length, page.own.length, page.tally.counts.lost], [0, 2, 2])
})

test('amounts of parts add up exactly, by currency', () => {
  const amount = { currency: 'EUR', count: 1, units: 2, value: '0.1' }
  const one = { ...noTally, gainedValue: [amount, { ...amount, currency: 'CHF' }] }

  const sum = addTallies(one, { ...noTally, gainedValue: [{ ...amount, value: '0.2' }] })

  assert.deepEqual(sum.gainedValue, [
    { currency: 'CHF', count: 1, units: 2, value: '0.100000000' },
    { currency: 'EUR', count: 2, units: 4, value: '0.300000000' },
  ])
})
