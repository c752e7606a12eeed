import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { request as send, type IncomingMessage, type ServerResponse } from 'node:http'
import { test } from 'node:test'
import { BodyBudget } from '../../src/campaign/body-budget.ts'
import { callLimits, OpenCalls } from '../../src/campaign/open-calls.ts'
import { silentLog } from '../helpers/silent-log.ts'
import { aKey, bearer, startHarness } from './harness.ts'

const mebibyte = 1_048_576

/** As much of both as is looked at. */
function aCall(calls: OpenCalls, changes: { keyId?: string; isStream?: boolean } = {}) {
  const { keyId = 'key', isStream = false } = changes
  const socket = { bytesRead: 0, writableLength: 0, isEnded: false, destroy: () => {} }
  socket.destroy = () => (socket.isEnded = true)
  const request = { socket, complete: !isStream, readableLength: 0 }
  const response = Object.assign(new EventEmitter(), {
    socket,
    writableEnded: false,
    writableLength: 0,
  })
  calls.watch({
    key: aKey({ id: keyId }),
    // Stand-ins for connections of any speed.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    request: request as unknown as IncomingMessage,
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    response: response as unknown as ServerResponse,
    isStream,
  })
  return { socket, request, response }
}

function aWorld(isValid: () => boolean = () => true) {
  return new OpenCalls({
    keys: { find: () => null, findRefused: () => null, findPerson: () => null, isValid },
    log: silentLog,
  })
}

function look(calls: OpenCalls, seconds: number, between: () => void = () => {}): void {
  for (let second = 0; second < seconds; second += 1) {
    between()
    calls.look(1_000)
  }
}

test('a reader who takes a byte a second is cut off, one at the least speed never', (t) => {
  const calls = aWorld()
  t.after(() => calls.close())
  const [slow, steady] = [aCall(calls), aCall(calls)]
  for (const { response, socket } of [slow, steady]) {
    response.writableEnded = true
    socket.writableLength = 30 * mebibyte
  }

  look(calls, 600, () => {
    slow.socket.writableLength -= 1
    steady.socket.writableLength -= callLimits.answerBytesPerSecondMin
  })

  assert.deepEqual([slow.socket.isEnded, steady.socket.isEnded], [true, false])
})

test('a sender who trickles is cut off, and one who waits for us is not', (t) => {
  const calls = aWorld()
  t.after(() => calls.close())
  const [slow, steady, held] = [1, 2, 3].map(() => aCall(calls, { isStream: true }))
  assert.ok(slow !== undefined && steady !== undefined && held !== undefined)
  held.request.readableLength = 65_536

  look(calls, 600, () => {
    slow.socket.bytesRead += 1
    steady.socket.bytesRead += callLimits.streamBytesPerSecondMin
  })

  assert.deepEqual(
    [slow, steady, held].map(({ socket }) => socket.isEnded),
    [true, false, false]
  )
})

test('a long answer at work is not taken for a slow reader', (t) => {
  const calls = aWorld()
  t.after(() => calls.close())
  const { socket } = aCall(calls)

  look(calls, 3_600)

  assert.equal(socket.isEnded, false)
})

test('a call that revokes its own key still gets its answer; what goes on after that is ended', (t) => {
  let isValid = true
  const calls = aWorld(() => isValid)
  t.after(() => calls.close())
  const [revoking, streaming] = [aCall(calls), aCall(calls, { isStream: true })]

  isValid = false
  look(calls, 1)
  assert.deepEqual([revoking.socket.isEnded, streaming.socket.isEnded], [false, false])
  revoking.response.emit('close')
  look(calls, 1)

  assert.deepEqual([revoking.socket.isEnded, streaming.socket.isEnded], [false, true])
})

/** Whose answer is made, and waits for its reader. */
function anUnreadAnswer(calls: OpenCalls, keyId: string, bytes: number) {
  const call = aCall(calls, { keyId })
  call.response.writableEnded = true
  call.socket.writableLength = bytes
  return call
}

test('a key with too many unread answers is refused more, and others are not', (t) => {
  const calls = aWorld()
  t.after(() => calls.close())
  const { response } = anUnreadAnswer(calls, 'greedy', 33 * mebibyte)

  assert.equal(calls.refusalOf(aKey({ id: 'greedy' }))?.status, 429)
  assert.equal(calls.refusalOf(aKey({ id: 'other' })), null)
  assert.equal(calls.refusalOf(aKey({ id: 'greedy', isConfigured: true })), null)
  response.emit('close')
  assert.equal(calls.refusalOf(aKey({ id: 'greedy' })), null)
})

test('however many keys read slowly, others are answered: the slowest of the heaviest key is ended', (t) => {
  const calls = aWorld()
  t.after(() => calls.close())
  const heavy = [1, 2].map(() => anUnreadAnswer(calls, 'heavy', 16 * mebibyte))
  const [slow, steady] = heavy
  assert.ok(slow !== undefined && steady !== undefined)
  look(calls, 10, () => {
    steady.socket.writableLength -= callLimits.answerBytesPerSecondMin
  })
  const others = ['a', 'b', 'c', 'd'].map((id) => anUnreadAnswer(calls, id, 24 * mebibyte))
  assert.equal(calls.refusalOf(aKey({ id: 'honest' })), null)
  assert.ok(!slow.socket.isEnded, 'as much as the bound is held')

  others.push(anUnreadAnswer(calls, 'e', 4 * mebibyte))

  assert.equal(calls.refusalOf(aKey({ id: 'honest' })), null)
  assert.deepEqual(
    [slow, steady, ...others].map(({ socket }) => socket.isEnded),
    [true, false, false, false, false, false, false]
  )
})

test('a key without a byte under way is answered while unread answers are at the bound', (t) => {
  const calls = aWorld()
  t.after(() => calls.close())
  for (let round = 0; round < 100; round += 1) {
    anUnreadAnswer(calls, `k${round % 10}`, 16 * mebibyte)
    assert.equal(calls.refusalOf(aKey({ id: 'honest' })), null)
  }
})

test('a key that is revoked ends what it has open, also what waits', async (t) => {
  let isValid = true
  const called = new EventEmitter()
  const { app } = startHarness({
    keys: {
      find: () => aKey(),
      findRefused: () => null,
      findPerson: () => null,
      isValid: () => isValid,
    },
    runReport: ({ signal }) => {
      called.emit('call')
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('gone')))
      })
    },
  })
  t.after(() => app.close())
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  const call = once(called, 'call')
  const sent = send(`${url}/v2/advertisers/1/reports/spa/product.csv`, {
    method: 'POST',
    headers: bearer('K1'),
  })
  const broken = once(sent, 'error')
  sent.end(JSON.stringify({ startDate: '2026-03-01', endDate: '2026-03-31' }))
  await call

  isValid = false

  assert.match(String(await broken), /hang up|ECONNRESET/u)
})

test('bodies share a budget: one key leaves room for others, and catalogs have one of their own', () => {
  const budget = new BodyBudget()
  const fill = (keyId: string) => {
    const shares = []
    for (;;) {
      const share = budget.open(keyId, mebibyte)
      const full = share.add(mebibyte)
      if (full !== null) return { shares, full }
      shares.push(share)
    }
  }

  const first = fill('k0')
  assert.deepEqual([first.shares.length, first.full], [8, 'own-full'])
  for (let key = 1; key < 8; key += 1) assert.equal(fill(`k${key}`).shares.length, 8)
  const beyond = fill('k9')
  assert.deepEqual([beyond.shares.length, beyond.full], [0, 'all-full'])
  const small = budget.open('k9', mebibyte)
  assert.equal(small.add(65_536), null)
  assert.equal(small.add(1), 'all-full')
  small.close()
  const catalog = budget.open('k0', 64 * mebibyte)
  assert.equal(catalog.add(64 * mebibyte), null)
  assert.equal(budget.open('k0', 64 * mebibyte).add(64 * mebibyte), 'own-full')

  first.shares[0]?.close()
  assert.equal(fill('k9').shares.length, 1)
})
