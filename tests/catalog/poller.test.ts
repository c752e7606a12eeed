import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { test } from 'node:test'
import { Poller } from '../../src/catalog/poller.ts'

function captureLog() {
  const lines: string[] = []
  return {
    lines,
    info: (_fields: object, message: string) => void lines.push(message),
    error: (_fields: object, message: string) => void lines.push(message),
  }
}

test('a run of failures is logged once, and so is its end', async (t) => {
  const log = captureLog()
  let count = 0
  const recovered = new Promise<void>((resolve) => {
    const poller = new Poller({
      intervalMs: 1,
      what: 'x',
      log,
      poll: async () => {
        await delay(0)
        count += 1
        if (count <= 3) throw new Error('away')
        if (count === 5) resolve()
      },
    })
    t.after(() => poller.close())
  })
  const alive = setInterval(() => {}, 1_000)
  t.after(() => clearInterval(alive))

  await recovered

  assert.deepEqual(log.lines, ['refreshing failed; trying again', 'refreshing works again'])
})

test('closing waits for the poll under way, and none begins after it', async () => {
  let running = 0
  let count = 0
  const polled = new EventEmitter()
  const poller = new Poller({
    intervalMs: 1,
    what: 'x',
    log: captureLog(),
    poll: async () => {
      running += 1
      count += 1
      polled.emit('began')
      await delay(20)
      running -= 1
    },
  })
  const alive = setInterval(() => {}, 1_000)
  await once(polled, 'began')
  clearInterval(alive)

  await poller.close()
  const countAtClose = count
  await delay(30)

  assert.equal(running, 0)
  assert.equal(count, countAtClose)
})
