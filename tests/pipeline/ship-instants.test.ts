// Instants that come from clocks which were not set, and those of shipping that was held up.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  aConversion,
  anEvent,
  append,
  aReturn,
  aShipment,
  readAside,
  shipBatch,
} from '../helpers/shipment.ts'

// One was taken before trackers looked at their clock, say.
test('a receipt outside of 2020 to 2100 is set aside, and touches no day', async (t) => {
  const { deps, warehouse, spool } = await aShipment(t)
  const [early, late] = [Date.UTC(1985, 0, 1), Date.UTC(2100, 0, 2)]
  await append(spool, [
    aConversion({ receivedAtMs: early, transactionId: 'T8' }),
    aReturn({ receivedAtMs: early }),
    anEvent({ receivedAtMs: late }),
    aConversion({ transactionId: 'T9' }),
  ])

  const result = await shipBatch(deps)

  assert.deepEqual(result, { shippedCount: 4, setAsideCount: 3, contradictions: [] })
  const aside = await readAside(warehouse)
  assert.deepEqual(
    [...new Set(aside.map(({ reason }) => reason.slice(0, 21)))],
    ['the clock of the node']
  )
  const deliveries = await warehouse.rows('SELECT transaction_id AS id FROM delivery')
  assert.deepEqual(deliveries, [{ id: 'T9' }])
})
