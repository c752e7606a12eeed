// A few thousand of the requests of `npm run test:fuzz`, always the same ones.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operations } from '../../src/contract/operations.ts'
import { prepareService } from '../helpers/service.ts'
import { rawKinds } from './raw-call.ts'
import { fuzz, fuzzEnvironment } from './run.ts'

test('hostile requests on both ports meet no failure, no leak, no undocumented answer, and end no process', async (t) => {
  const service = await prepareService(t, { env: fuzzEnvironment })
  await service.start()

  const report = await fuzz(service, { requests: 2_000, seed: 7 })

  const found = report.findings.map(
    ({ index, what, faults, request, answer }) =>
      `request ${index}, ${what}: ${faults.join('; ')}\n${request}\n${answer}`
  )
  assert.deepEqual(found, [])
  assert.deepEqual(report.restarted, [])
  assert.equal(report.requests, 2_000)
  // Each was sent and answered; a new operation is met here without being listed anywhere.
  const unmet = [...operations.map(({ operationId }) => operationId), ...rawKinds].filter(
    (what) => (report.statuses.get(what)?.size ?? 0) === 0
  )
  assert.deepEqual(unmet, [])
  const health = await fetch(`${service.trackingUrl}/readyz`)
  assert.equal(health.status, 200)
  assert.doesNotMatch(service.stderr, /"level":(50|60)/)
})
