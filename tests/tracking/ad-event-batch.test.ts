import assert from 'node:assert/strict'
import { once } from 'node:events'
import { IncomingMessage } from 'node:http'
import { connect, Socket } from 'node:net'
import { test } from 'node:test'
import { openMemorySpool } from '../helpers/memory-spool.ts'
import type { SpoolRecord } from '../../src/spool/record.ts'
import {
  createKeyRing,
  createMinter,
  createOpener,
  type Opener,
} from '../../src/tracking-data/tracking-data.ts'
import { AdEventHandler, limits } from '../../src/tracking/ad-event.ts'
import type { Answer } from '../../src/tracking/answers.ts'
import { BodyReader } from '../../src/tracking/body.ts'
import { TrackingFailures } from '../../src/tracking/failures.ts'
import { anAd, nowMs, startTracker } from './fixture.ts'
import { entriesOf } from '../helpers/spooled.ts'

const keyRing = createKeyRing()
const minter = createMinter(keyRing, { clock: () => nowMs })
const aToken = (): string => minter.mint(anAd).trackingData

interface Harness {
  readonly send: (token: string, method?: string) => Promise<Answer | null>
  readonly at: { ms: number }
  readonly stored: () => readonly SpoolRecord[]
  readonly batchSizes: readonly number[]
  readonly logged: readonly object[]
}

/** The handler of ad events without sockets, so that a test says what one turn of the loop brings. */
function aHandler(opener: Opener = createOpener(keyRing)): Harness {
  const batchSizes: number[] = []
  const logged: object[] = []
  const at = { ms: nowMs }
  const clock = (): number => at.ms
  const spool = openMemorySpool({ clock })
  const log = {
    isLevelEnabled: () => false,
    debug() {},
    error: (fields: object) => void logged.push(fields),
  }
  const handler = new AdEventHandler({
    spool,
    clock,
    opener: {
      open: opener.open,
      openAll: (texts) => {
        batchSizes.push(texts.length)
        return opener.openAll(texts)
      },
    },
    trustProxy: false,
    bodies: new BodyReader({ networkOf: () => null }),
    failures: new TrackingFailures({ log, clock }),
  })
  return {
    send: (token, method = 'POST') =>
      new Promise((resolve) => {
        const request = new IncomingMessage(new Socket())
        request.method = method
        handler.handle({ request, kind: 'impression', token }, resolve)
      }),
    at,
    stored: () => entriesOf(spool.read(1_000_000)).map((entry) => entry.record),
    batchSizes,
    logged,
  }
}

test('events of one turn of the event loop are opened together, each with its own answer', async () => {
  const handler = aHandler()
  const tokens = [aToken(), 'junk', aToken(), `${aToken()}A`, aToken()]

  const answers = await Promise.all(tokens.map((token) => handler.send(token)))

  assert.deepEqual(
    answers.map((answer) => answer?.status),
    [200, 400, 200, 400, 200]
  )
  assert.deepEqual(handler.batchSizes, [5])
  assert.equal(handler.stored().length, 3)
})

test('a turn of more events than may wait is opened in parts, and none is lost', async () => {
  const handler = aHandler()
  const count = 2 * limits.waitingMax + 10

  const answers = await Promise.all(Array.from({ length: count }, () => handler.send(aToken())))

  assert.ok(answers.every((answer) => answer?.status === 200))
  assert.deepEqual(handler.batchSizes, [limits.waitingMax, limits.waitingMax, 10])
  assert.equal(handler.stored().length, count)
})

test('HEAD among others counts nothing', async () => {
  const handler = aHandler()

  const answers = await Promise.all(
    ['HEAD', 'POST', 'HEAD'].map((method) => handler.send(aToken(), method))
  )

  assert.equal(answers[0]?.headers.includes('image/gif'), true)
  assert.deepEqual(
    answers.map((answer) => answer?.status),
    [200, 200, 200]
  )
  assert.equal(handler.stored().length, 1)
})

test('a token whose opening throws costs its own request a 500 and no other anything', async () => {
  const { open, openAll } = createOpener(keyRing)
  const poison = 'poison'
  const refuse = (text: string): void => {
    if (text === poison) throw new Error('secret detail')
  }
  const handler = aHandler({
    open: (text) => {
      refuse(text)
      return open(text)
    },
    openAll: (texts) => {
      texts.forEach(refuse)
      return openAll(texts)
    },
  })

  const answers = await Promise.all(
    [aToken(), poison, aToken(), 'junk'].map((token) => handler.send(token))
  )
  const after = await handler.send(aToken())

  assert.deepEqual(
    answers.map((answer) => answer?.status),
    [200, 500, 200, 400]
  )
  assert.equal(after?.status, 200)
  assert.equal(handler.stored().length, 3)
  assert.ok(handler.logged.length > 0)
})

test('an event is stamped when it comes in, not when its token is opened', async () => {
  const handler = aHandler()

  const sending = [handler.send(aToken()), handler.send(aToken())]
  handler.at.ms += 1_000
  await Promise.all(sending)

  assert.deepEqual(
    handler.stored().map((record) => record.receivedAtMs),
    [nowMs, nowMs]
  )
})

test('hundreds of pipelined requests on few connections are all answered in order and stored', async (t) => {
  const tracker = await startTracker(t)
  const perConnection = 400
  const statuses = Array.from({ length: perConnection }, (_, index) =>
    index % 3 === 0 ? 400 : 200
  )
  const exchange = async (): Promise<string> => {
    const requests = statuses.map((status, index) => {
      const token = status === 200 ? tracker.mint() : 'junk'
      const close = index === perConnection - 1 ? 'Connection: close\r\n' : ''
      return `POST /impression/${token} HTTP/1.1\r\nHost: x\r\n${close}\r\n`
    })
    return await tracker.raw(requests.join(''), 20_000)
  }

  const answers = await Promise.all([exchange(), exchange(), exchange()])

  for (const answer of answers) {
    const got = Array.from(answer.matchAll(/HTTP\/1\.1 (\d{3})/g), ([, status]) => Number(status))
    assert.deepEqual(got, statuses)
  }
  assert.equal(tracker.adEvents().length, 3 * statuses.filter((status) => status === 200).length)
})

test('what waits to be opened when the server closes is stored and answered first', async (t) => {
  const opener = createOpener(keyRing)
  let isStarted = false
  let closed: Promise<void> | undefined
  const tracker = await startTracker(t, {
    opener,
    // Asked for when an event comes in: from then on it waits for the end of the turn.
    clock: () => {
      if (isStarted) closed ??= tracker.close()
      return nowMs
    },
  })
  isStarted = true

  const answer = await tracker.raw(`POST /click/${aToken()} HTTP/1.1\r\nHost: x\r\n\r\n`)
  await closed

  assert.match(answer, /^HTTP\/1\.1 200 /)
  assert.match(answer, /connection: close/i)
  assert.equal(tracker.adEvents().length, 1)
})

test('a sender that goes away before its token is opened leaves its event and harms no one', async (t) => {
  const tracker = await startTracker(t)
  const leaver = connect(tracker.port, '127.0.0.1')
  await once(leaver, 'connect')
  leaver.on('error', () => undefined)

  leaver.write(`POST /click/${tracker.mint()} HTTP/1.1\r\nHost: x\r\n\r\n`, () =>
    leaver.resetAndDestroy()
  )
  await once(leaver, 'close')
  const reply = await tracker.send('POST', `/click/${tracker.mint()}`)

  assert.equal(reply.status, 200)
  assert.ok(tracker.adEvents().length >= 1)
})
