import assert from 'node:assert/strict'
import { test } from 'node:test'
import { judge, Ledger, steps } from './ledger.ts'
import type { Delivery, Journey, JourneyFigures } from './ledger.ts'

function deliver(ledger: Ledger, journey: Journey, delivery: Delivery): void {
  for (const step of steps) ledger.note(journey, step, { delivery, by: 'a node' })
}

function figuresOf(journey: Journey, count: number): Map<string, JourneyFigures> {
  const counts = { load: count, impression: count, click: count, purchase: count }
  return new Map([[journey.gtin, { counts, valueCents: count * journey.valueCents }]])
}

function judgeNow(ledger: Ledger, figures: Map<string, JourneyFigures>) {
  const { missing, surplus } = judge(figures, { before: ledger.copy(), after: ledger.copy() })
  return { missing: missing.length, surplus: surplus.length }
}

test('what is acknowledged must be there once, what is only sent may be, what is torn must not', () => {
  const expected = {
    acknowledged: [
      [4, 0],
      [0, 0],
      [0, 4],
    ],
    sent: [
      [0, 0],
      [0, 0],
      [0, 4],
    ],
    torn: [
      [0, 0],
      [0, 4],
      [0, 4],
    ],
  } as const
  for (const [delivery, counts] of Object.entries(expected)) {
    const ledger = new Ledger()
    const journey = ledger.begin('product-1')
    deliver(ledger, journey, delivery as keyof typeof expected)

    const judged = [0, 1, 2].map((count) => judgeNow(ledger, figuresOf(journey, count)))

    assert.deepEqual(
      judged,
      counts.map(([missing, surplus]) => ({ missing, surplus })),
      delivery
    )
  }
})

test('a deviation tells when and to whom its step was sent last', () => {
  const ledger = new Ledger()
  const journey = ledger.begin('product-1')
  ledger.note(journey, 'click', { delivery: 'acknowledged', by: 'tracker 1' })

  const { missing } = judge(new Map(), { before: ledger.copy(), after: ledger.copy() })

  assert.deepEqual(
    missing.map(({ what, trace }) => [what, trace?.by]),
    [['product-1 click: 0 of 1', 'tracker 1']]
  )
})

test('a purchase that was under way while a clock changed may be credited or not, others must be', () => {
  const ledger = new Ledger()
  const during = ledger.begin('product-1')
  ledger.note(during, 'click', { delivery: 'acknowledged', by: '' })
  ledger.beginClockChange()
  ledger.note(during, 'purchase', { delivery: 'acknowledged', by: '' })
  ledger.endClockChange()
  const behind = ledger.begin('product-2')
  for (const step of ['click', 'purchase'] as const) {
    ledger.note(behind, step, { delivery: 'acknowledged', by: '' })
  }

  const { missing } = judge(new Map(), { before: ledger.copy(), after: ledger.copy() })

  assert.deepEqual(
    missing.map(({ what }) => what),
    ['product-1 click: 0 of 1', 'product-2 click: 0 of 1', 'product-2 purchase: 0 of 1']
  )
})
