import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { servedMetrics } from '../helpers/served-metrics.ts'

interface Panel {
  readonly id: number
  readonly title: string
  readonly description?: string
  readonly targets?: readonly { readonly expr: string }[]
  readonly gridPos: {
    readonly x: number
    readonly y: number
    readonly w: number
    readonly h: number
  }
}

// oxlint-disable-next-line typescript/no-unsafe-type-assertion
const dashboard = JSON.parse(readFileSync('deploy/monitoring/grafana-dashboard.json', 'utf8')) as {
  readonly panels: readonly Panel[]
}
const queries = dashboard.panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr }) => ({ title, expr }))
)

test('every metric that the dashboard of Grafana shows is among those that are served', async () => {
  const served = await servedMetrics()
  const unknown = queries.flatMap(({ title, expr }) =>
    [...expr.matchAll(/\b(?:shelftrace|process)_\w+/gu)]
      .map(([name]) => name.replace(/_(?:bucket|sum|count)$/u, ''))
      .filter((name) => !served.has(name))
      .map((name) => `${title}: ${name}`)
  )
  assert.ok(queries.length > 20)
  assert.deepEqual(unknown, [])
})

test('each alert that a panel names is one of those that there are, and each alert has a panel', () => {
  const alerts = [
    ...readFileSync('docs/alerts.yaml', 'utf8').matchAll(/^ {6}- alert: (\w+)$/gmu),
  ].map(([, name]) => name)
  const named = dashboard.panels.flatMap(({ description = '' }) =>
    [...description.matchAll(/\bShelftrace\w+/gu)].map(([name]) => name)
  )
  assert.deepEqual(new Set(named), new Set(alerts))
})

test('no two panels share a number or a place', () => {
  const { panels } = dashboard
  assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length)
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)},${y + Math.floor(cell / w)}`)
  )
  assert.equal(new Set(cells).size, cells.length)
})

test(
  'Prometheus understands every query',
  {
    skip: spawnSync('promtool', ['--version']).status === 0 ? false : 'there is no promtool',
  },
  (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'shelftrace-grafana-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const path = join(folder, 'rules.yaml')
    const rules = queries.map(({ expr }, index) => ({
      record: `query:${index}`,
      // Grafana puts these in.
      expr: expr
        .replaceAll('$__rate_interval', '1m')
        .replaceAll('$job', 'shelftrace')
        .replaceAll('$instance', '.+'),
    }))
    // YAML holds JSON.
    writeFileSync(path, JSON.stringify({ groups: [{ name: 'grafana', rules }] }))

    const checked = spawnSync('promtool', ['check', 'rules', path], { encoding: 'utf8' })

    assert.equal(checked.status, 0, checked.stdout + checked.stderr)
  }
)
