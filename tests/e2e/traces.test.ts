// A trace from a request to the warehouse, as a collector gets it from a whole service.
import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { aBundle } from '../helpers/bundle.ts'
import { placement } from '../helpers/placement.ts'
import { eventually, prepareService } from '../helpers/service.ts'

interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[]
  readonly attributes?: readonly { readonly key: string; readonly value: object }[]
  readonly service: string
}

interface Export {
  readonly resourceSpans: readonly {
    readonly resource: {
      readonly attributes: readonly {
        readonly key: string
        readonly value: { stringValue?: string }
      }[]
    }
    readonly scopeSpans: readonly { readonly spans: readonly Omit<Span, 'service'>[] }[]
  }[]
}

/** Takes traces as OTLP in JSON. */
async function startCollector(
  t: TestContext
): Promise<{ url: string; spans: Span[]; texts: string[] }> {
  const spans: Span[] = []
  const texts: string[] = []
  const server: Server = createServer((request, response) => {
    text(request)
      .then((body) => {
        texts.push(body)
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion
        for (const { resource, scopeSpans } of (JSON.parse(body) as Export).resourceSpans) {
          const name = resource.attributes.find(({ key }) => key === 'service.name')
          const service = name?.value.stringValue ?? ''
          for (const one of scopeSpans.flatMap((scope) => scope.spans)) {
            spans.push({ ...one, service })
          }
        }
        return response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
      })
      .catch(() => response.destroy())
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.after(() => server.close())
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, spans, texts }
}

test('a traced event is followed from its request through the spool into the warehouse, and a report from its caller', async (t) => {
  const { url, spans, texts } = await startCollector(t)
  const service = await prepareService(t, {
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: url,
      OTEL_TRACES_SAMPLER: 'always_on',
      OTEL_SERVICE_NAME: 'shop-tracking',
      OTEL_BSP_SCHEDULE_DELAY: '200',
    },
  })
  await service.start()
  await service.admin('PUT', '/admin/v1/catalog', aBundle())
  const userId = 'a-shopper-canary'
  const link = { ...placement, gtin: '4006381333931', userId, servedAt: new Date().toISOString() }
  const minted = await service.admin('POST', '/admin/v1/tracking-links', { links: [link] })
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const { links } = (await minted.json()) as { links: readonly { trackingData: string }[] }
  const token = links[0]?.trackingData ?? ''

  const answer = await fetch(`${service.trackingUrl}/impression/${token}`, { method: 'POST' })
  assert.equal(answer.status, 200)
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
  await fetch(`${service.campaignUrl}/admin/v1/status`, {
    headers: {
      authorization: `Bearer ${service.adminKey}`,
      traceparent: `00-${traceId}-00f067aa0ba902b7-01`,
    },
  })

  const find = (name: string) => spans.find((span) => span.name === name)
  await eventually('all spans came', () =>
    Promise.resolve(
      ['receive impression', 'spool append', 'ship batch', 'INSERT ad_event_in'].every(
        (name) => find(name) !== undefined
      ) && spans.some((span) => span.traceId === traceId)
    )
  )
  const received = find('receive impression')
  const appended = find('spool append')
  const shipped = find('ship batch')
  assert.equal(received?.service, 'shop-tracking')
  assert.equal(appended?.parentSpanId, received.spanId)
  assert.deepEqual(
    shipped?.links?.map((linked) => [linked.traceId, linked.spanId]),
    [[appended.traceId, appended.spanId]]
  )
  assert.equal(find('INSERT ad_event_in')?.parentSpanId, shipped.spanId)
  const asked = spans.find((span) => span.traceId === traceId)
  assert.deepEqual([asked?.name, asked?.parentSpanId], ['getStatus', '00f067aa0ba902b7'])
  // Nothing that names a shopper, and no key.
  for (const secret of [userId, token, service.adminKey]) {
    assert.ok(!texts.some((body) => body.includes(secret)))
  }
})

test('a collector that is away neither refuses an event nor holds up the end', async (t) => {
  const service = await prepareService(t, {
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1', OTEL_TRACES_SAMPLER: 'always_on' },
  })
  await service.start()
  const answer = await fetch(`${service.trackingUrl}/healthz`)
  assert.equal(answer.status, 200)
  assert.equal(await service.terminate(), 0)
})
