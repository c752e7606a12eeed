import assert from 'node:assert/strict'
import { test } from 'node:test'
import { adEventVerdict } from '../../src/domain/ad-event-verdict.ts'
import type { FiredEvent, FiredPlace } from '../../src/domain/ad-event-verdict.ts'
import { callers } from '../../src/domain/caller.ts'
import type { Caller } from '../../src/domain/caller.ts'
import { siteTypes } from '../../src/domain/site-type.ts'

const servedAtMs = Date.UTC(2026, 2, 2, 10)
const places = [...siteTypes, null]

function verdictOf(event: Partial<FiredEvent>, place: Partial<FiredPlace> = {}): string {
  return adEventVerdict(
    {
      kind: 'impression',
      receivedAtMs: servedAtMs,
      isPrefetch: false,
      caller: 'ordinary',
      isFromDataCentre: false,
      ...event,
    },
    servedAtMs,
    { siteType: 'DESKTOP', firesFromBackend: false, ...place }
  )
}

/** Written from the table in docs/what-counts.md, in the order of `places`: unknown sites come last. */
const table: readonly (readonly [string, Partial<FiredEvent>, readonly string[]])[] = [
  ['ordinary', {}, ['counted', 'counted', 'counted', 'counted', 'counted', 'counted']],
  [
    'unnamed',
    { caller: 'unnamed' },
    ['no-user-agent', 'no-user-agent', 'counted', 'counted', 'counted', 'counted'],
  ],
  ['app-library', { caller: 'app-library' }, ['bot', 'bot', 'counted', 'counted', 'bot', 'bot']],
  ['mail-proxy', { caller: 'mail-proxy' }, ['bot', 'bot', 'bot', 'bot', 'counted', 'bot']],
  [
    'mail-proxy that clicks',
    { caller: 'mail-proxy', kind: 'click' },
    ['bot', 'bot', 'bot', 'bot', 'bot', 'bot'],
  ],
  ['bot', { caller: 'bot' }, ['bot', 'bot', 'bot', 'bot', 'bot', 'bot']],
  [
    'caller that nobody noted',
    { caller: null },
    ['counted', 'counted', 'counted', 'counted', 'counted', 'counted'],
  ],
]

for (const [name, event, verdicts] of table) {
  test(`an event of one ${name} counts on the types of site that the table says, and no other`, () => {
    assert.deepEqual(
      places.map((siteType) => verdictOf(event, { siteType })),
      verdicts
    )
  })

  test(`out of a data centre one ${name} counts only where it is a mail service's proxy`, () => {
    const isProxy = event.caller === 'mail-proxy'
    assert.deepEqual(
      places.map((siteType) => verdictOf({ ...event, isFromDataCentre: true }, { siteType })),
      verdicts.map((verdict) => (verdict === 'counted' && !isProxy ? 'data-centre' : verdict))
    )
  })
}

test('where the backend fires the links, neither the user agent nor the network says anything', () => {
  for (const caller of [...callers, null] satisfies readonly (Caller | null)[]) {
    for (const siteType of places) {
      const place = { siteType, firesFromBackend: true }
      assert.equal(verdictOf({ caller, isFromDataCentre: true }, place), 'counted')
      assert.equal(verdictOf({ caller, isPrefetch: true }, place), 'prefetch')
      assert.equal(verdictOf({ caller, receivedAtMs: servedAtMs + 86_400_001 }, place), 'expired')
    }
  }
})

test('who fired comes before prefetching, and that before the age', () => {
  const late = { isPrefetch: true, receivedAtMs: servedAtMs + 86_400_001 }

  assert.equal(verdictOf({ ...late, caller: 'bot', isFromDataCentre: true }), 'bot')
  assert.equal(verdictOf({ ...late, caller: 'unnamed', isFromDataCentre: true }), 'no-user-agent')
  assert.equal(verdictOf({ ...late, isFromDataCentre: true }), 'data-centre')
  assert.equal(verdictOf(late), 'prefetch')
  assert.equal(verdictOf({ ...late, isPrefetch: false }), 'expired')
})
