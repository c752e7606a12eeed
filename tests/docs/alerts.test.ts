import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { ContradictionCounts } from '../../src/pipeline/contradiction-counts.ts'
import { createMetrics } from '../../src/ops/metrics.ts'
import { quietService, servedMetrics } from '../helpers/served-metrics.ts'

const rules = readFileSync('docs/alerts.yaml', 'utf8')
const alerts = [...rules.matchAll(/^ {6}- alert: (\w+)$/gmu)].map(([, name]) => name)

test('every metric that an alert asks for is among those that are served', async () => {
  const served = await servedMetrics()

  const asked = [...rules.matchAll(/\b(?:shelftrace|process)_\w+/gu)].map(([name]) =>
    // The parts of a histogram are served under its name.
    name.replace(/_(?:bucket|sum|count)$/u, '')
  )

  assert.ok(asked.length > alerts.length - 2)
  assert.deepEqual(
    asked.filter((name) => !served.has(name)),
    []
  )
})

test('ad events that contradict the catalog are a counter that never loses what it told', async () => {
  const contradictions = new ContradictionCounts()
  const serve = createMetrics(quietService(contradictions))
  const told = async () =>
    (await serve.read()).split('\n').filter((line) => line.includes('contradicting_events'))

  contradictions.add({ publisherId: 10, rule: 'access' })
  await told()
  contradictions.add({ publisherId: 10, rule: 'access' })

  assert.deepEqual(await told(), [
    '# HELP shelftrace_contradicting_events_total Ad events set aside because they contradict the catalog.',
    '# TYPE shelftrace_contradicting_events_total counter',
    'shelftrace_contradicting_events_total{publisher="10",rule="access"} 2',
  ])
})

test('every alert has a rule, a severity and a section of the runbook, and no section is left over', () => {
  const headings = [
    ...readFileSync('docs/runbook.md', 'utf8').matchAll(/^## (Shelftrace\w+)$/gmu),
  ].map(([, name]) => name)

  assert.deepEqual(new Set(alerts), new Set(headings))
  assert.equal(headings.length, alerts.length)
  assert.equal([...rules.matchAll(/^ {8}expr: \S/gmu)].length, alerts.length)
  assert.equal([...rules.matchAll(/^ {10}severity: (?:page|ticket)$/gmu)].length, alerts.length)
})
