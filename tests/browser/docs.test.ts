// The page of the operations in a real browser: what it offers to try, and with which values.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Browser } from 'playwright-core'
import { createDocsPages } from '../../src/campaign/docs-pages.ts'
import { examples } from '../../src/contract/examples/examples.ts'
import { startHarness } from '../campaign/harness.ts'
import { launchBrowser, noBrowser, visit, type Visitor } from './browser.ts'

describe('the page of the operations in a browser', { skip: noBrowser, timeout: 600_000 }, () => {
  const pages = createDocsPages({ trackingUrl: 'http://t', campaignUrl: 'http://c' })
  const { app } = startHarness({ pages })
  let browser: Browser
  let visitor: Visitor

  // One page for all tests: to draw its hundred operations takes seconds.
  before(async () => {
    const url = await app.listen({ port: 0, host: '127.0.0.1' })
    browser = await launchBrowser()
    const address = 'docs#/Campaign/readSpaProductReport'
    visitor = await visit({ browser, url, address })
  })
  after(async () => {
    await browser.close()
    await app.close()
  })

  it('tries a report with the values of the example, under its policy and at this port alone', async () => {
    const { page, complaints } = visitor
    const operation = page.locator('#operations-Campaign-readSpaProductReport')

    await operation.locator('.try-out__btn').click()
    const body = await operation.locator('textarea').first().inputValue()
    const advertiserId = await operation.locator('input[type=text]').first().inputValue()
    await operation.locator('.execute').click()
    const status = operation.locator('.live-responses-table .response-col_status').nth(1)

    assert.deepEqual(JSON.parse(body), examples['readSpaProductReport']?.body)
    assert.equal(advertiserId, '1')
    // Without a key.
    assert.match(await status.innerText(), /^401/)
    assert.deepEqual(complaints, [])
  })

  it('does not offer to try what the service refuses from every browser', async () => {
    const { page } = visitor
    for (const [operationId, count] of [
      ['deliverConversion', 0],
      ['deliverReturn', 0],
      ['deliverImpression', 1],
    ] as const) {
      const operation = page.locator(`#operations-Tracking-${operationId}`)
      await operation.locator('.opblock-summary-control').click()

      await operation.locator('.responses-wrapper').first().waitFor()

      assert.equal(await operation.locator('.try-out__btn').count(), count, operationId)
    }
  })
})
