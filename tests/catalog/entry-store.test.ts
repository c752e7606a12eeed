import assert from 'node:assert/strict'
import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { pino } from 'pino'
import { EntryStore } from '../../src/catalog/entry-store.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'
import { silentLog } from '../helpers/silent-log.ts'

const unused = async () => await Promise.reject(new Error('no store does this'))

/** A warehouse whose entries differ at each reading, and that is away while it is told to be. */
function aWarehouse() {
  const state = { isAway: false, readings: 0 }
  const warehouse: Warehouse = {
    command: unused,
    insert: async () => {},
    stream: () => assert.fail('no store does this'),
    barrier: async () => {},
    close: async () => {},
    rows: async () => {
      if (state.isAway) throw new Error('away')
      state.readings += 1
      return []
    },
  }
  return { state, warehouse }
}

const parts = { what: 'things', kinds: ['market'], onEntries: () => {} } as const

test('a run of failures is logged once, and so is its end', async (t) => {
  const lines = new PassThrough()
  const log = pino(lines)
  const { state, warehouse } = aWarehouse()
  const store = new EntryStore({ warehouse, clock: () => 0, log, refreshMs: 1 }, parts)
  t.after(() => store.close())
  await store.open()
  state.isAway = true
  const [failed] = (await once(lines, 'data')) as unknown[]
  // More tries fail meanwhile, and say nothing.
  for (let count = 0; count < 3; count += 1) await assert.rejects(store.refresh(), /away/u)
  state.isAway = false

  const [recovered] = (await once(lines, 'data')) as unknown[]

  assert.match(String(failed), /"what":"things".+"refreshing failed; trying again"/u)
  assert.match(String(recovered), /"what":"things".+"refreshing works again"/u)
})

test('a change that fails is told to its caller and holds up no other', async () => {
  const { warehouse } = aWarehouse()
  const store = new EntryStore({ warehouse, clock: () => 0, log: silentLog }, parts)
  const order: string[] = []

  const failing = store.change(() => Promise.reject(new Error('the first')))
  const second = store.change(async () => {
    order.push('second began')
    await new Promise((resolve) => setImmediate(resolve))
    order.push('second ended')
  })
  const third = store.change(async () => void order.push('third began'))

  await assert.rejects(failing, /the first/u)
  await Promise.all([second, third])
  assert.deepEqual(order, ['second began', 'second ended', 'third began'])
})

test('a store whose first reading fails does not open', async () => {
  const { state, warehouse } = aWarehouse()
  state.isAway = true
  const store = new EntryStore({ warehouse, clock: () => 0, log: silentLog }, parts)

  await assert.rejects(store.open(), /away/u)
})
