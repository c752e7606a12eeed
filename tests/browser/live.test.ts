// What an operator on call sees: the verdict of the node on itself, in a real browser before a whole service.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { Browser } from 'playwright-core'
import { prepareService, signalProcess, type Service } from '../helpers/service.ts'
import { launchBrowser, noBrowser, settled, signIn, sizes, until, visit } from './browser.ts'
import { assertFits, findBarriers } from './read-page.ts'

const minuteMs = 60_000

/** A node that has been started four times within the last hour, and that was behind in the night. */
function rememberedDay(nowMs: number): string {
  const at = (minutesAgo: number) => new Date(nowMs - minutesAgo * minuteMs).toISOString()
  const points = [30, 20, 10].map((minutesAgo) => ({
    at: at(minutesAgo),
    shipped: minutesAgo * 60,
    waitingBytes: 2_048,
    lagMs: 90_000,
    attributionLagMs: 0,
    reportP95Ms: null,
  }))
  const ended = [{ name: 'ShelftraceSpoolLag', severity: 'page', since: at(300), until: at(240) }]
  const startsMs = [40, 30, 20, 10].map((minutesAgo) => nowMs - minutesAgo * minuteMs)
  return JSON.stringify({ points, ended, firing: [], startsMs })
}

describe('the live page', { skip: noBrowser, timeout: 600_000 }, () => {
  const closers: (() => Promise<void>)[] = []
  let service: Service
  let browser: Browser

  before(async () => {
    service = await prepareService({ after: (close) => closers.push(close) })
    writeFileSync(join(service.dataDir, 'last-day.json'), rememberedDay(Date.now()), {
      mode: 0o600,
    })
    await service.start()
    browser = await launchBrowser()
  })
  after(async () => {
    await browser?.close()
    for (const close of closers) await close()
  })

  it('says first what is wrong, opens the runbook there, and shows what was wrong and is over', async (t) => {
    const { page, complaints } = await visit(
      { browser, url: service.campaignUrl, address: '#/operator/live' },
      t
    )
    await signIn(page, service.adminKey)
    await settled(page)
    const verdict = page.getByRole('region', { name: 'Verdict' })
    await verdict.getByText('One thing is wrong').waitFor()
    assert.match(await page.title(), /^One thing is wrong · Live/u)

    await verdict.getByText('The engine process keeps dying and being restarted.').click()

    await verdict.getByText('Give the machine more memory').waitFor()
    await verdict.locator('code', { hasText: 'a process is started again' }).waitFor()
    assert.deepEqual(await findBarriers(page), [])
    const day = page.getByRole('region', { name: 'Last 24 hours' })
    await day.getByText('SpoolLag', { exact: true }).waitFor()
    const lag = day.locator('.tile', { hasText: 'Age of the oldest event' }).locator('.value')
    assert.equal(await lag.textContent(), '90 s')
    for (const size of [sizes.phone, sizes.desktop]) {
      await page.setViewportSize(size)
      await assertFits(page, 'the live page')
    }
    assert.deepEqual(complaints, [])
  })

  it('cannot be taken for well while the service hangs, and is well again by itself', async (t) => {
    const { page } = await visit(
      { browser, url: service.campaignUrl, address: '#/operator/live' },
      t
    )
    await signIn(page, service.adminKey)
    await settled(page)
    const [engine = 0] = service.children('engine')

    signalProcess(engine, 'SIGSTOP')
    t.after(() => signalProcess(engine, 'SIGCONT'))
    await page.getByText('No answer from the service').waitFor()

    assert.match(await page.title(), /^No answer from the service/u)
    assert.equal(await page.locator('.silent').count(), 1)
    assert.deepEqual(await findBarriers(page), [])
    signalProcess(engine, 'SIGCONT')
    await page.getByText('No answer from the service').waitFor({ state: 'detached' })
    await until(page, `!document.title.startsWith('No answer')`)
    assert.equal(await page.locator('.silent').count(), 0)
  })
})
