// The judge must condemn: a run that finds nothing proves nothing if it could not.
import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { operations } from '../../src/contract/operations.ts'
import { refusalKinds } from '../../src/contract/refusal-codes.ts'
import type { Call } from './call.ts'
import { judgeCall, judgeRawCall } from './judge.ts'
import { Wire, type Heard } from './wire.ts'

const operation = operations.find(({ operationId }) => operationId === 'readAudit')
assert.ok(operation !== undefined)
const call: Call = {
  operation,
  port: 'campaign',
  method: 'GET',
  target: '/admin/v1/audit',
  headers: [],
  body: null,
  isChunked: false,
  isRouted: true,
  isRight: true,
}
const gate: readonly (readonly [string, string])[] = [
  ['cache-control', 'no-store'],
  ['content-security-policy', "default-src 'none'"],
  ['cross-origin-resource-policy', 'same-origin'],
  ['referrer-policy', 'no-referrer'],
  ['x-content-type-options', 'nosniff'],
  ['x-frame-options', 'DENY'],
]
const json = ['content-type', 'application/json'] as const

const coded = (status: number) => {
  const code = Object.entries(refusalKinds).find(([, kind]) => kind.status === status)?.[0]
  return code === undefined ? [] : [['shelftrace-error-code', code] as const]
}

function answer(status: number, body: unknown, given = [...gate, json]): Heard {
  const headers = [...given, ...coded(status)]
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
  return { replies: [{ status, headers, body: bytes }], fault: 'none', isClosed: false }
}

const good = answer(422, { messages: ['/name must be text'] })

test('a documented refusal in the shape of every refusal is no finding', () => {
  assert.deepEqual(judgeCall(call, good, ['secret']), [])
})

const faults: readonly (readonly [string, Heard])[] = [
  ['status 500', answer(500, { messages: [] })],
  ['503 without retry-after', answer(503, { messages: [] })],
  ['status 418 is not documented', answer(418, { messages: [] })],
  ['401 without www-authenticate', answer(401, { messages: [] })],
  ['it tells of the inside', answer(422, { messages: ['x\n    at Gate.handle (gate.js)'] })],
  ['it tells of the inside', answer(422, { messages: ['Code: 62. DB::Exception'] })],
  ['it holds a secret', answer(422, { messages: ['the secret is wrong'] })],
  ['it sets a cookie', answer(422, { messages: [] }, [...gate, json, ['set-cookie', 'a=b']])],
  ['the body is not JSON', answer(422, '{"messages":')],
  ['the body: /messages', answer(422, { messages: 'x' })],
  ['the type text/html is not JSON', answer(422, '', [...gate, ['content-type', 'text/html']])],
  [
    'the header x-frame-options is missing',
    answer(422, { messages: [] }, [...gate.slice(0, 5), json]),
  ],
  ['418 without a code', answer(418, { messages: [] })],
  [
    'the code KEY_MISSING is not one of 422',
    answer(422, { messages: [] }, [['shelftrace-error-code', 'KEY_MISSING'], ...gate, json]),
  ],
  ['the connection: cut', { replies: [], fault: 'cut', isClosed: true }],
]
for (const [fault, heard] of faults) {
  test(`an answer is condemned: ${fault} (${String(heard.replies[0]?.body ?? '')})`, () => {
    assert.match(judgeCall(call, heard, ['secret']).join('\n'), new RegExp(fault))
  })
}

const exporting = operations.find(({ operationId }) => operationId === 'exportAudit')
const lineFaults: readonly (readonly [string, string])[] = [
  ['the body is not JSON', '{\n'],
  ['the body: /at is required', '{}\n'],
  ['the last line has no end', '{}'],
]
for (const [fault, body] of lineFaults) {
  test(`an answer of lines is condemned: ${fault}`, () => {
    assert.ok(exporting !== undefined)
    const headers = [...gate, ['content-type', 'application/x-ndjson'] as const]
    const found = judgeCall({ ...call, operation: exporting }, answer(200, body, headers), [])
    assert.ok(
      found.some((one) => one.startsWith(fault)),
      found.join('\n')
    )
  })
}

test('an answer to what was smuggled in is condemned', () => {
  const { replies } = answer(200, { status: 'alive' })
  const raw = {
    name: 'x',
    port: 'tracking',
    bytes: [],
    repliesMax: 2,
    repliesMin: 1,
    isEnding: true,
    statuses: [400],
  } as const

  const found = judgeRawCall(raw, { replies, fault: 'none', isClosed: true }, [])

  assert.deepEqual(found, ['status 200'])
})

const wires: readonly (readonly [string, Heard['fault'], string])[] = [
  ['no status line', 'malformed', 'HELLO\r\n\r\n'],
  [
    'a line break in a header',
    'malformed',
    'HTTP/1.1 200 OK\r\nx: a\nb: c\r\ncontent-length: 0\r\n\r\n',
  ],
  [
    'two lengths',
    'malformed',
    'HTTP/1.1 200 OK\r\ncontent-length: 0\r\ncontent-length: 1\r\n\r\nx',
  ],
  ['neither length nor chunks', 'malformed', 'HTTP/1.1 200 OK\r\n\r\nx'],
  ['more than its length', 'malformed', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nxy'],
  ['less than its length', 'cut', 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nx'],
  ['a broken chunk', 'malformed', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n'],
  ['no last chunk', 'cut', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nx\r\n'],
  ['nothing', 'no-answer', ''],
]
for (const [name, fault, text] of wires) {
  test(`an answer with ${name} is not taken for one`, async (t) => {
    const server = createServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', () => socket.end(text))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    t.after(() => server.close())
    const wire = new Wire((server.address() as AddressInfo).port)

    const heard = await wire.exchange([Buffer.from('GET / HTTP/1.1\r\n\r\n')], {
      repliesMax: 1,
      isHead: false,
      timeoutMs: 10_000,
    })

    assert.equal(heard.fault, fault)
  })
}
