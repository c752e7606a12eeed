import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { attributionProfiles } from '../../../src/contract/report-request.ts'
import { createJudge } from '../../../src/attribution/explain/judge.ts'
import type { JudgedLine, Shopper, Touch } from '../../../src/attribution/explain/judge.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const purchasedAtMs = Date.UTC(2026, 2, 10, 12)
const shopper: Shopper = { purchasedAtMs, loginIdentity: 'm1', crowdIds: [] }
const line: JudgedLine = { gtinKey: 'A', groupId: 'G', verdict: 'valid' }

function aTouch(changes: Partial<Touch> & { readonly agoMs?: number } = {}): Touch {
  const { agoMs = hourMs, ...rest } = changes
  return {
    kind: 'click',
    servedAdId: '1',
    touchedAtMs: purchasedAtMs - agoMs,
    gtinKey: 'A',
    groupId: '',
    loginIdentity: '',
    sharedIds: ['user'],
    siteId: 101,
    marketId: 1,
    advertiserId: 1000,
    campaignId: 1,
    adGroupId: 1,
    gtin: 'A',
    ...rest,
  }
}

const aView = (changes: Parameters<typeof aTouch>[0] = {}) =>
  aTouch({ kind: 'impression', servedAdId: '2', ...changes })

/** What became of each touchpoint: click profile, view profile, both. */
function outcomesOf(touches: readonly Touch[], changes: Partial<Shopper> = {}, judged = line) {
  return createJudge({ ...shopper, ...changes }, touches)
    .judge(judged)
    .map(({ outcomes }) => [
      outcomes.CLK_14_DAYS,
      outcomes.IMP_1_DAY,
      outcomes.IMP_1_DAY_CLK_14_DAYS,
    ])
}

const won = ['won', 'not-in-profile', 'won']
const lost = (reason: string) => [reason, 'not-in-profile', reason]
const viewWon = ['not-in-profile', 'won', 'won']
const viewLost = (reason: string) => ['not-in-profile', reason, reason]

for (const [what, touch, outcome] of [
  ['the last millisecond of 14 days', aTouch({ agoMs: 14 * dayMs }), won],
  ['a millisecond more', aTouch({ agoMs: 14 * dayMs + 1 }), lost('outside-window')],
  ['the millisecond of the purchase', aTouch({ agoMs: 0 }), won],
  ['a millisecond later', aTouch({ agoMs: -1 }), lost('after-purchase')],
  ['another product', aTouch({ gtinKey: 'B' }), lost('other-product')],
  ['another product of the group', aTouch({ gtinKey: 'B', groupId: 'G' }), won],
  ['another spelling of the group', aTouch({ gtinKey: 'B', groupId: 'g' }), lost('other-product')],
  ['the same logged-in id', aTouch({ loginIdentity: 'm1', sharedIds: ['login'] }), won],
  ['another logged-in id on one device', aTouch({ loginIdentity: 'm2' }), lost('other-login')],
] as const) {
  test(`a click of ${what} has the outcome ${outcome[0]}`, () => {
    assert.deepEqual(outcomesOf([touch]), [outcome])
  })
}

for (const [what, touch, outcome] of [
  ['the last millisecond of a day', aView({ agoMs: dayMs }), viewWon],
  ['a millisecond more', aView({ agoMs: dayMs + 1 }), viewLost('outside-window')],
  [
    'another product of the group',
    aView({ gtinKey: 'B', groupId: 'G' }),
    viewLost('other-product'),
  ],
] as const) {
  test(`a view of ${what} has the outcome ${outcome[1]}`, () => {
    assert.deepEqual(outcomesOf([touch]), [outcome])
  })
}

test('two empty groups are no group', () => {
  assert.deepEqual(outcomesOf([aTouch({ gtinKey: 'B' })], {}, { ...line, groupId: '' }), [
    lost('other-product'),
  ])
})

test('a direct click beats a later one in the group, a later one an earlier, the greater id a smaller of the same millisecond', () => {
  const outcomes = outcomesOf([
    aTouch({ servedAdId: '1', agoMs: 3 * hourMs }),
    aTouch({ servedAdId: '2', agoMs: 2 * hourMs }),
    aTouch({ servedAdId: '3', agoMs: 2 * hourMs }),
    aTouch({ servedAdId: '4', agoMs: hourMs, gtinKey: 'B', groupId: 'G' }),
  ])

  assert.deepEqual(outcomes, [
    lost('earlier'),
    lost('smaller-served-ad-id'),
    won,
    lost('direct-preferred'),
  ])
})

test('a view wins its own profile and loses to any click where both count', () => {
  const outcomes = outcomesOf([
    aTouch({ agoMs: 13 * dayMs, gtinKey: 'B', groupId: 'G' }),
    aView({ agoMs: 1 }),
    aView({ servedAdId: '3', agoMs: hourMs }),
  ])

  assert.deepEqual(outcomes, [
    won,
    ['not-in-profile', 'won', 'click-preferred'],
    ['not-in-profile', 'earlier', 'click-preferred'],
  ])
})

test('an id of a crowd joins nothing, another id of the same touchpoint still does, and a crowd tells nobody apart', () => {
  const onlyUser = aTouch()
  const both = aTouch({ servedAdId: '2', sharedIds: ['user', 'login'], loginIdentity: 'm1' })
  const others = aTouch({ servedAdId: '3', loginIdentity: 'm2' })

  const userCrowd = outcomesOf([onlyUser, both], { crowdIds: ['user'] })
  const loginCrowd = outcomesOf([onlyUser, others], { crowdIds: ['login'] })
  const allCrowds = outcomesOf([both], { crowdIds: ['user', 'login'] })

  assert.deepEqual(userCrowd, [lost('crowd-identity'), won])
  assert.deepEqual(loginCrowd, [lost('smaller-served-ad-id'), won])
  assert.deepEqual(allCrowds, [lost('crowd-identity')])
})

test('how far a touchpoint lies outside of its window is told to the millisecond, also of another product', () => {
  const judged = createJudge(shopper, [
    aTouch({ agoMs: 14 * dayMs + 5, gtinKey: 'B' }),
    aView({ agoMs: 3 * dayMs }),
    aTouch({ servedAdId: '3' }),
  ]).judge(line)

  assert.deepEqual(
    judged.map(({ outsideMs, rule }) => [outsideMs, rule]),
    [
      [5, null],
      [2 * dayMs, null],
      [0, 'direct'],
    ]
  )
})

test('without touchpoints nobody wins', () => {
  const judge = createJudge(shopper, [])

  assert.deepEqual(judge.creditsOf(line), {
    CLK_14_DAYS: null,
    IMP_1_DAY: null,
    IMP_1_DAY_CLK_14_DAYS: null,
  })
  assert.deepEqual(judge.judge(line), [])
})

const touches = fc.uniqueArray(
  fc
    .record({
      kind: fc.constantFrom('click', 'impression'),
      servedAdId: fc.constantFrom('1', '2', '3', '4'),
      touchedAtMs: fc
        .constantFrom(-1, 0, 1, hourMs, dayMs, dayMs + 1, 14 * dayMs, 14 * dayMs + 1)
        .map((agoMs) => purchasedAtMs - agoMs),
      gtinKey: fc.constantFrom('A', 'B'),
      groupId: fc.constantFrom('', 'G'),
      loginIdentity: fc.constantFrom('', 'm1', 'm2'),
      sharedIds: fc.subarray(['user', 'login'] as const, { minLength: 1 }),
    })
    .map((drawn): Touch => aTouch(drawn)),
  { selector: ({ kind, servedAdId }) => `${kind}${servedAdId}` }
)

test('a profile credits one touchpoint or none, the order of the touchpoints does not matter, and a loser taken away changes no winner', () => {
  fc.assert(
    fc.property(touches, fc.subarray(['user', 'login'] as const), (list, crowdIds) => {
      const judgeOf = (some: readonly Touch[]) => createJudge({ ...shopper, crowdIds }, some)
      const winners = judgeOf(list).creditsOf(line)
      const judged = judgeOf(list).judge(line)

      assert.deepEqual(judgeOf(list.toReversed()).creditsOf(line), winners)
      for (const profile of attributionProfiles) {
        const wonByOne = judged.filter(({ outcomes }) => outcomes[profile] === 'won')
        const winner = winners[profile]
        assert.deepEqual(
          wonByOne.map(({ touch, rule }) => Object.assign({}, touch, { rule })),
          winner === null ? [] : [winner]
        )
      }
      const losers = judged.filter(
        ({ outcomes }) => !Object.values(outcomes).some((outcome) => outcome === 'won')
      )
      for (const { touch } of losers) {
        assert.deepEqual(judgeOf(list.filter((one) => one !== touch)).creditsOf(line), winners)
      }
    })
  )
})
