// The supervisor hands connections and messages to trackers. One that has just died must cost no more than
// what it was given.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { eventually, prepareService, signalProcess, statusOf } from '../helpers/service.ts'

/** Connections that wait for the supervisor to accept them. */
function connectTo(url: string, count: number): readonly Socket[] {
  return Array.from({ length: count }, () => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    return socket.on('error', () => undefined)
  })
}

/** The process has ended, although its parent has not noticed yet. */
async function eventuallyDead(pid: number): Promise<void> {
  await eventually(`process ${pid} is dead`, async () => {
    await Promise.resolve()
    return /\) Z /u.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  })
}

test('connections handed to a tracker that has just died do not end the node', async (t) => {
  const service = await prepareService(t, { env: { SHELFTRACE_TRACKERS: '2' } })
  await service.start()
  const supervisorPid = service.pid

  for (let round = 0; round < 5; round += 1) {
    const trackerPids = service.children('tracker')
    assert.equal(trackerPids.length, 2)
    // The connections come first, so that the supervisor accepts them before it hears of the deaths.
    signalProcess(supervisorPid, 'SIGSTOP')
    const sockets = connectTo(service.trackingUrl, 8)
    await sleep(100)
    for (const pid of trackerPids) signalProcess(pid, 'SIGKILL')
    for (const pid of trackerPids) await eventuallyDead(pid)
    signalProcess(supervisorPid, 'SIGCONT')

    await eventually('both trackers are there again', async () => {
      const pids = service.children('tracker')
      const isNew = pids.length === 2 && pids.every((pid) => !trackerPids.includes(pid))
      return isNew && (await statusOf(`${service.trackingUrl}/readyz`)) === 200
    })
    for (const socket of sockets) socket.destroy()
  }

  assert.ok(service.isRunning)
  assert.equal(service.pid, supervisorPid)
})
