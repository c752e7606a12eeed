// What is sealed under one revision: bounded by what a statement reads, however far apart the days lie.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addDays, listDays } from '../../src/domain/day.ts'
import { chooseBatch } from '../../src/days/seal-work.ts'
import type { Renewal } from '../../src/days/seal-work.ts'
import { linkedDays } from '../../src/days/touched-days.ts'
import type { TouchedDay } from '../../src/days/touched-days.ts'

const unit = { id: 1, code: 'DE', currency: 'EUR', timeZone: 'UTC' }
const yesterday = '2026-03-02'

/** So many events on each day that there is. */
function aWarehouse(eventCount: number) {
  return {
    rows: <Row>(_sql: string, params: Readonly<Record<string, unknown>> = {}): Promise<Row[]> => {
      const days = listDays(String(params['first']), String(params['last']))
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      return Promise.resolve(days.map((day) => ({ day, eventCount }) as Row))
    },
  }
}

function aRenewal(day: string, touched: TouchedDay | null = null): Renewal {
  const seal = {
    unit: 1,
    day,
    revision: 1n,
    rollupVersion: 1,
    readAt: '2026-03-03 00:00:00.000000',
    rates: '',
  }
  return { unit, day, seal, touched, isDue: true }
}

function aTouchedDay(day: string, linkedTo?: string): TouchedDay {
  const fromMs = Date.parse(day)
  return {
    unit: 1,
    day,
    touchedUntilMs: 0,
    readAtMs: 0,
    fromMs,
    toMs: fromMs + 86_400_000,
    linkedFromMs: linkedTo === undefined ? 0 : fromMs,
    linkedToMs: linkedTo === undefined ? 0 : Date.parse(linkedTo) + 86_400_000,
    torn: 0,
  }
}

const daysOf = (batch: readonly { readonly day: string }[]) =>
  batch.map(({ day }) => day).toSorted()

test('renewals far apart are not read together, with all that lies between them', async () => {
  const renewals = [yesterday, addDays(yesterday, -200)].map((day) => aRenewal(day))

  const few = await chooseBatch(aWarehouse(0), { unsealed: [], renewals }, 1_000)
  const many = await chooseBatch(
    aWarehouse(100),
    { unsealed: [], renewals: [yesterday, addDays(yesterday, -20)].map((day) => aRenewal(day)) },
    1_000
  )

  assert.deepEqual(daysOf(few), [yesterday])
  assert.deepEqual(daysOf(many), [yesterday])
})

test('unsealed days far apart are not read together either', async () => {
  const unsealed = [yesterday, addDays(yesterday, -20), addDays(yesterday, -200)].map((day) => ({
    unit,
    day,
  }))

  const batch = await chooseBatch(aWarehouse(100), { unsealed, renewals: [] }, 1_000)

  assert.deepEqual(daysOf(batch), [yesterday])
})

test('neighbouring days are read together as far as their events fit', async () => {
  const renewals = listDays(addDays(yesterday, -20), yesterday)
    .toReversed()
    .map((day) => aRenewal(day))

  const batch = await chooseBatch(aWarehouse(100), { unsealed: [], renewals }, 1_000)

  assert.deepEqual(daysOf(batch), listDays(addDays(yesterday, -9), yesterday))
})

test('days between others that are linked come along, as they are read in any case', async () => {
  const far = addDays(yesterday, -9)
  const between = addDays(yesterday, -4)
  const renewals = [
    aRenewal(far, aTouchedDay(far, yesterday)),
    aRenewal(yesterday, aTouchedDay(yesterday)),
    aRenewal(between),
  ]

  const batch = await chooseBatch(aWarehouse(100), { unsealed: [], renewals }, 1)

  assert.deepEqual(daysOf(batch), [far, between, yesterday])
})

test('linked days are found in one pass, however many are touched', () => {
  let readCount = 0
  const counted = (day: TouchedDay): TouchedDay =>
    new Proxy(day, {
      get: (target, key) => {
        readCount += 1
        return Reflect.get(target, key) as unknown
      },
    })
  const days = listDays('2020-01-01', '2030-01-01').map((day) =>
    counted(aTouchedDay(day, addDays(day, 1)))
  )

  const linked = linkedDays(days, days.slice(0, 1))

  assert.equal(linked.size, days.length)
  assert.ok(readCount < 100 * days.length, `${readCount} looks at ${days.length} days`)
})

test('days are linked over steps in both directions, and not beyond a gap or a unit', () => {
  const one = aTouchedDay('2026-03-01', '2026-03-03')
  const two = aTouchedDay('2026-03-03')
  const three = {
    ...aTouchedDay('2026-03-05'),
    linkedFromMs: two.fromMs,
    linkedToMs: two.fromMs + 1,
  }
  const alone = aTouchedDay('2026-03-06')
  const other = { ...two, unit: 2 }
  const days = [three, other, alone, two, one]

  assert.deepEqual([...linkedDays(days, [one])].map(({ day }) => day).toSorted(), [
    '2026-03-01',
    '2026-03-03',
    '2026-03-05',
  ])
  assert.deepEqual([...linkedDays(days, [alone])], [alone])
  assert.deepEqual([...linkedDays(days, [other])], [other])
})
