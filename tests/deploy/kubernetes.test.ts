// The manifests as Kubernetes would get them: rendered by kubectl, which needs no cluster for that.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { parse, parseAllDocuments } from 'yaml'
import { parseConfig } from '../../src/config.ts'

const tools = '.ci/kubernetes'
// Kustomize 5 came with kubectl 1.27.
const version = spawnSync('kubectl', ['version', '--client', '--output=json'], { encoding: 'utf8' })
const skip = /"kustomizeVersion": "v[5-9]/u.test(version.stdout ?? '')
  ? false
  : 'there is no kubectl 1.27 or later'
const skipSchemas = existsSync(`${tools}/node_modules`)
  ? skip
  : `npm ci --ignore-scripts --prefix ${tools} was not run`

const variants = ['base', 'single', 'cluster'] as const

interface Container {
  readonly env: readonly { readonly name: string; readonly value: string }[]
  readonly ports: readonly { readonly name: string }[]
  readonly startupProbe: Probe
  readonly livenessProbe: Probe
  readonly readinessProbe: Probe
  readonly image: string
}

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string }
}

type Labels = Readonly<Record<string, string>>

/** What the tests read; the test of schemas checks the whole. */
interface KubernetesObject {
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly data: Readonly<Record<string, string>>
  readonly spec: {
    readonly replicas: number
    readonly selector: Labels & { readonly matchLabels: Labels }
    readonly serviceName: string
    readonly template: {
      readonly metadata: { readonly labels: Labels }
      readonly spec: {
        readonly containers: readonly [Container]
        readonly terminationGracePeriodSeconds: number
      }
    }
    readonly ports: readonly { readonly targetPort: string }[]
    readonly scaleTargetRef: { readonly kind: string; readonly name: string }
    readonly groups: unknown
  }
}

function render(variant: string): string {
  const folder = `deploy/kubernetes/${variant}`
  const rendered = spawnSync('kubectl', ['kustomize', folder], { encoding: 'utf8' })
  assert.equal(rendered.status, 0, rendered.stderr)
  return rendered.stdout
}

function objectsOf(variant: string) {
  const objects = parseAllDocuments(render(variant)).map(
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    (document) => document.toJS() as KubernetesObject
  )
  const ofKind = (kind: string) => objects.filter((object) => object.kind === kind)
  return { ofKind, nodes: ofKind('StatefulSet') }
}

function faultsIn(manifests: string): string {
  const checked = spawnSync(process.execPath, [`${tools}/validate.mjs`], {
    input: manifests,
    encoding: 'utf8',
  })
  assert.equal(checked.status, 0, checked.stderr)
  return checked.stdout
}

function fits(wanted: Labels, labels: Labels): boolean {
  return Object.entries(wanted).every(([name, value]) => labels[name] === value)
}

function imagesOf(variant: string): readonly [string, number][] {
  return objectsOf(variant).nodes.map(({ spec }) => [
    spec.template.spec.containers[0].image,
    spec.replicas,
  ])
}

for (const variant of variants) {
  test(
    `every object of ${variant} fits its schema, with no field that Kubernetes does not know`,
    {
      skip: skipSchemas,
    },
    () => {
      assert.equal(faultsIn(render(variant)), '')
    }
  )

  test(
    `the service understands the settings that ${variant} gives to each of its nodes`,
    { skip },
    () => {
      const { ofKind, nodes } = objectsOf(variant)
      const shared = ofKind('ConfigMap').find(
        ({ metadata }) => metadata.name === 'shelftrace'
      )?.data
      for (const { spec } of nodes) {
        const [container] = spec.template.spec.containers
        const own = Object.fromEntries(container.env.map(({ name, value }) => [name, value]))
        // The files are mounted, and what is in them is the operator's.
        const mounted = Object.entries({ ...shared, ...own }).filter(
          ([name]) => !name.endsWith('_FILE')
        )
        const config = parseConfig({
          ...Object.fromEntries(mounted),
          SHELFTRACE_HOST: '0.0.0.0',
          ...(variant === 'single'
            ? {}
            : {
                SHELFTRACE_WAREHOUSE_URL:
                  'https://user:password@clickhouse.example:8443/shelftrace',
              }),
        })
        const ports = new Set(container.ports.map(({ name }) => name))
        assert.equal(config.roles.includes('tracker'), ports.has('tracking'))
        for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe'] as const) {
          const { path, port } = container[probe].httpGet
          assert.ok(ports.has(port), `${probe} asks port ${port}`)
          assert.ok(['/healthz', '/readyz'].includes(path), path)
        }
      }
    }
  )

  test(`each Service and each budget of ${variant} finds its pods`, { skip }, () => {
    const { ofKind, nodes } = objectsOf(variant)
    const services = ofKind('Service')
    for (const { metadata, spec } of services) {
      const found = nodes.filter((node) => fits(spec.selector, node.spec.template.metadata.labels))
      assert.equal(found.length, 1, metadata.name)
      const ports = found[0]?.spec.template.spec.containers[0].ports.map(({ name }) => name) ?? []
      for (const { targetPort } of spec.ports) assert.ok(ports.includes(targetPort), metadata.name)
    }
    for (const { spec } of nodes) {
      assert.ok(services.some(({ metadata }) => metadata.name === spec.serviceName))
    }
    const budgets = ofKind('PodDisruptionBudget')
    assert.equal(budgets.length, nodes.length)
    for (const { spec } of budgets) {
      const labels = nodes.map((node) => node.spec.template.metadata.labels)
      assert.ok(labels.some((label) => fits(spec.selector.matchLabels, label)))
    }
  })
}

// A check that finds nothing in anything would prove nothing.
test('a misspelt field and a wrong type are found', { skip: skipSchemas }, () => {
  const wrong = render('base')
    .replaceAll('readOnlyRootFilesystem', 'readOnlyRootFileSystem')
    .replace('replicas: 2', 'replicas: two')

  const faults = faultsIn(wrong)

  assert.match(faults, /replicas must be integer/u)
  assert.match(faults, /containers\/0\/securityContext\/readOnlyRootFileSystem is not known/u)
})

test(
  'one node has the image with ClickHouse in it and the address of no server; several have a server',
  { skip },
  () => {
    assert.deepEqual(imagesOf('single'), [['shelftrace:full', 1]])
    assert.deepEqual(imagesOf('cluster'), [
      ['shelftrace:server', 2],
      ['shelftrace:server', 2],
    ])
    assert.doesNotMatch(render('single'), /WAREHOUSE_URL/u)
  }
)

test('a pod has more time to end than its drain may take', { skip }, () => {
  const { ofKind, nodes } = objectsOf('cluster')
  const settings = ofKind('ConfigMap').find(({ metadata }) => metadata.name === 'shelftrace')?.data
  const drainMs =
    Number(settings?.['SHELFTRACE_DRAIN_MS']) + Number(settings?.['SHELFTRACE_DRAIN_NOTICE_MS'])
  for (const { spec } of nodes) {
    // After the drain, everything is closed within 10 s.
    assert.ok(spec.template.spec.terminationGracePeriodSeconds * 1_000 > drainMs + 10_000)
  }
})

test('the autoscaler scales the trackers', { skip }, () => {
  const { ofKind, nodes } = objectsOf('cluster')
  const scaled = ofKind('HorizontalPodAutoscaler').map(({ spec }) => spec.scaleTargetRef)
  assert.deepEqual(
    scaled.map(({ kind, name }) => [kind, name]),
    [['StatefulSet', 'shelftrace-tracker']]
  )
  assert.ok(nodes.some(({ metadata }) => metadata.name === 'shelftrace-tracker'))
})

test('the operator of Prometheus gets the rules of docs/alerts.yaml', { skip }, () => {
  const [rule] = objectsOf('cluster').ofKind('PrometheusRule')
  const rules: unknown = parse(readFileSync('docs/alerts.yaml', 'utf8'))
  assert.deepEqual({ groups: rule?.spec.groups }, rules)
})
