import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { eventually, prepareService } from '../helpers/service.ts'

const preloadUrl = new URL('../helpers/shifted-clock.mjs', import.meta.url).href

test('a tracker whose clock is a minute and more off the warehouse is not ready, takes events, and is ready again by itself', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'shelftrace-clock-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const clockFile = join(folder, 'clock')
  writeFileSync(clockFile, '0')
  const service = await prepareService(t, {
    env: { NODE_OPTIONS: `--import=${preloadUrl}`, TEST_CLOCK_FILE: clockFile },
  })
  await service.start()
  const readiness = async () => {
    const urls = [service.trackingUrl, service.campaignUrl]
    const answers = await Promise.all(urls.map((url) => fetch(`${url}/readyz`)))
    return answers.map(({ status }) => status).join(' ')
  }
  const offset = async () => {
    const status = await service.admin('GET', '/admin/v1/status')
    return ((await status.json()) as { clock: { offsetMs: number | null } }).clock.offsetMs
  }
  await eventually('the clocks are compared', async () => (await offset()) !== null)
  assert.equal(await readiness(), '200 200')

  writeFileSync(clockFile, '90000')

  await eventually('both ports say so', async () => (await readiness()) === '503 503')
  assert.ok(((await offset()) ?? 0) > 80_000)
  const metrics = await (await service.admin('GET', '/metrics')).text()
  assert.match(
    metrics,
    /^shelftrace_clock_offset_seconds 8\d|^shelftrace_clock_offset_seconds 9\d/mu
  )
  const load = await fetch(`${service.trackingUrl}/load/x`, { method: 'POST' })
  assert.equal(load.status, 400, 'it answers as ever')
  // A tracker that is started meanwhile is told as well.
  const [tracker] = service.children('tracker')
  assert.ok(tracker !== undefined)
  process.kill(tracker, 'SIGKILL')
  await eventually('the new one says so, too', async () => {
    const [now] = service.children('tracker')
    return now !== undefined && now !== tracker && (await readiness()) === '503 503'
  })
  writeFileSync(clockFile, '0')
  await eventually('both are ready again', async () => (await readiness()) === '200 200')
  assert.match(service.stderr, /the clock is so far off that trackers are not ready/)
})
