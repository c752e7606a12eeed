import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recordText } from '../../src/spool/record-text.ts'
import { readRecord, type SpoolRecord } from '../../src/spool/record.ts'
import { tracedSpool } from '../../src/tracing/traced-spool.ts'
import { tracedLanes } from '../../src/tracing/traced-warehouse.ts'
import { parseTraceparent, type SpanOptions, type Tracing } from '../../src/tracing/tracing.ts'
import { openServerWarehouse } from '../../src/warehouse/server.ts'
import { openMemorySpool } from '../helpers/memory-spool.ts'
import { playScript } from '../helpers/scripted-server.ts'
import { anEvent } from '../contracts/spool-model.ts'

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const traceparent = `00-${traceId}-00f067aa0ba902b7-01`

/** Remembers the names of spans, and traces as the coin falls. */
function scriptedTracing(coin: () => boolean): Tracing & { readonly names: string[] } {
  const names: string[] = []
  let depth = 0
  return {
    names,
    toss: coin,
    isActive: () => depth > 0,
    current: () => (depth > 0 ? traceparent : null),
    async run<Result>(name: string, _options: SpanOptions, work: () => Promise<Result>) {
      names.push(name)
      depth += 1
      return await work().finally(() => (depth -= 1))
    },
    close: () => Promise.resolve(),
  }
}

test('a traceparent is read to the letter, and one whose sender does not trace counts as none', () => {
  assert.deepEqual(parseTraceparent(traceparent), {
    traceId,
    spanId: '00f067aa0ba902b7',
    traceFlags: 1,
    isRemote: true,
  })
  for (const text of [
    '',
    traceparent.slice(1),
    `${traceparent}0`,
    traceparent.toUpperCase(),
    traceparent.replace(/-01$/u, '-00'),
    `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
  ]) {
    assert.equal(parseTraceparent(text), null, text)
  }
})

test('a record whose request is not traced is stored as it would be without traces', async () => {
  const spool = openMemorySpool({ clock: () => 0 })
  const tracing = scriptedTracing(() => false)
  const record = anEvent({})

  await tracedSpool(spool, tracing).append(record)

  assert.deepEqual(tracing.names, [])
  const [part] = spool.read(10).parts()
  assert.deepEqual(part?.entries[0]?.record, record)
})

test('a record of a traced request carries its context through the spool, and the caller keeps its own', async () => {
  const spool = openMemorySpool({ clock: () => 0 })
  const tracing = scriptedTracing(() => true)
  const record = anEvent({})

  await tracedSpool(spool, tracing).append(record)

  assert.deepEqual(tracing.names, [`receive ${record.kind}`, 'spool append'])
  assert.equal(record.trace, undefined)
  const [part] = spool.read(10).parts()
  const stored = part?.entries[0]?.record
  assert.deepEqual(stored, { ...record, trace: traceparent })
})

test('the text of a traced record is its JSON, and is read back whole', () => {
  const receipt = {
    receivedAtMs: 1,
    publisherId: 10,
    transactionId: 't',
    origin: { kind: 'backfill' },
    presentedKey: 'none',
    trace: traceparent,
  } as const
  const records: readonly SpoolRecord[] = [
    { ...anEvent({}), trace: traceparent },
    {
      type: 'conversion',
      siteId: 1,
      userIdentity: '',
      loginIdentity: '',
      currency: 'EUR',
      lines: [],
      ...receipt,
    },
    { type: 'return', returnId: 'r', lines: [], ...receipt },
  ]
  for (const record of records) {
    const text = recordText(record)
    assert.deepEqual(JSON.parse(text), record)
    assert.deepEqual(readRecord(JSON.parse(text)), record)
  }
})

test('statements of traced work have spans, others none, and small look-ups never', async () => {
  const tracing = scriptedTracing(() => true)
  const warehouse = {
    command: () => Promise.resolve(),
    rows: () => Promise.resolve([]),
    stream: () => {
      throw new Error('not called')
    },
    insert: () => Promise.resolve(),
    barrier: () => Promise.resolve(),
    close: () => Promise.resolve(),
  }
  const lanes = { pipeline: warehouse, lookups: warehouse, reports: warehouse }
  const ends = { adopt: () => undefined, close: () => Promise.resolve() }
  const traced = tracedLanes({ ...lanes, ...ends }, tracing)

  await traced.pipeline.insert('audit', Buffer.from('{}'))
  await tracing.run('step', {}, async () => {
    await traced.pipeline.insert('audit', Buffer.from('{}'))
    await traced.pipeline.command('\n  OPTIMIZE TABLE audit')
    await traced.reports.rows('SELECT 1')
    await traced.lookups.rows('SELECT 1')
  })

  assert.deepEqual(tracing.names, ['step', 'INSERT audit', 'OPTIMIZE', 'SELECT'])
})

test('a server is told the trace of traced statements, and nothing with others', async (t) => {
  const server = await playScript(t, (response) => {
    response.writeHead(200).end()
  })
  let current: string | null = traceparent
  const warehouse = openServerWarehouse({ url: server.url, traceparent: () => current })
  t.after(() => warehouse.close())

  await warehouse.command('SELECT 1')
  await warehouse.insert('audit', Buffer.from('{"id":"1"}\n'))
  current = null
  await warehouse.command('SELECT 1')

  assert.deepEqual(
    server.received.map(({ headers }) => headers['traceparent']),
    [traceparent, traceparent, undefined]
  )
})
