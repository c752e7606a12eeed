// Answers that are not the service's, or not whole, are told as what they are, and nothing is made of them.
import assert from 'node:assert/strict'
import { after, before, describe, it, type TestContext } from 'node:test'
import { startPoorProxy, type PoorProxy } from '../helpers/poor-proxy.ts'
import { noBrowser, settled, signIn, visit } from './browser.ts'
import { findBarriers } from './read-page.ts'
import { Stage } from './stage.ts'

const foreign = 'Something else answered in place of the service'

describe('answers that are poor', { skip: noBrowser, timeout: 900_000 }, () => {
  const stage = new Stage({ shoppers: 20, days: 5, adsPerDay: 200 })
  let proxy: PoorProxy

  before(async () => {
    proxy = await startPoorProxy(stage.showcase.url)
  })
  after(async () => await proxy?.close())

  async function enter(t: TestContext, key: string, address: string) {
    proxy.fault = 'none'
    const visitor = await visit({ browser: stage.browser, url: proxy.url, address }, t)
    await signIn(visitor.page, key)
    await settled(visitor.page)
    return visitor
  }

  for (const { from, address } of [
    { from: 'the table', address: '#/advertisers/1/performance' },
    { from: 'the purchases', address: '#/advertisers/1/purchases' },
  ]) {
    it(`a page that a proxy sends in place of a CSV is not saved as the file of ${from}`, async (t) => {
      const { page } = await enter(t, stage.showcase.advertiserKey, address)
      const saved: string[] = []
      page.on('download', (file) => saved.push(file.suggestedFilename()))
      proxy.fault = 'page'
      await page.getByRole('button', { name: 'Download CSV' }).click()
      await page.getByText(foreign).waitFor()
      assert.deepEqual(saved, [])
    })
  }

  it('a CSV whose number of rows was taken out on the way is not saved as if it were whole', async (t) => {
    const { page } = await enter(t, stage.showcase.advertiserKey, '#/advertisers/1/performance')
    const saved: string[] = []
    page.on('download', (file) => saved.push(file.suggestedFilename()))
    await page.route('**/groups.csv', async (route) => {
      const response = await route.fetch()
      const { 'x-total-rows': _, ...headers } = response.headers()
      await route.fulfill({ response, headers })
    })
    await page.getByRole('button', { name: 'Download CSV' }).click()
    await page.getByText(foreign).waitFor()
    assert.deepEqual(saved, [])
  })

  it('a page that a proxy sends in place of figures is told as such', async (t) => {
    const { page } = await enter(t, stage.showcase.advertiserKey, '#/nowhere')
    proxy.fault = 'page'
    await page.evaluate(`location.hash = '#/advertisers/1/performance'`)
    await page.getByText(foreign).first().waitFor()
    assert.equal(await page.getByText('Something in this page went wrong').count(), 0)
  })

  it('a key is not said to be revoked because a proxy answered with a page', async (t) => {
    const { page } = await enter(t, stage.showcase.adminKey, '#/operator/keys')
    await page
      .getByRole('button', { name: /^Revoke / })
      .first()
      .click()
    proxy.fault = 'page'
    await page.getByRole('button', { name: 'Revoke for good' }).click()
    await page.locator('td').getByText(foreign).waitFor()
  })
  for (const { what, name } of [
    { what: 'figures', name: 'series.json' },
    { what: 'a file', name: 'groups.csv' },
  ]) {
    it(`${what} of which only a part comes are told as such, not as a fault of the page`, async (t) => {
      const { page } = await enter(t, stage.showcase.advertiserKey, '#/nowhere')
      proxy.fault = name === 'series.json' ? 'half' : 'none'
      await page.evaluate(`location.hash = '#/advertisers/1/performance'`)
      if (name === 'groups.csv') {
        await settled(page)
        proxy.fault = 'half'
        await page.getByRole('button', { name: 'Download CSV' }).click()
      }
      await page.getByText('The answer of the service has not come whole.').first().waitFor()
      assert.equal(await page.getByText('Something in this page went wrong').count(), 0)
    })
  }

  it('a call that an ad blocker holds back is told as such, and not as a service that is away', async (t) => {
    const { page } = await enter(t, stage.showcase.advertiserKey, '#/nowhere')
    await page.route(/advertisers/u, (route) => route.abort('blockedbyclient'))
    await page.evaluate(`location.hash = '#/advertisers/1/performance'`)
    await page.getByText('such as an ad blocker').first().waitFor()
    await page.route('**/healthz', (route) => route.abort('connectionrefused'))
    await page.reload()
    await page.getByText('The service cannot be reached.').first().waitFor()
  })

  it('an answer that hangs in the middle is not waited for without end, and told as late', async (t) => {
    const { page } = await enter(t, stage.showcase.advertiserKey, '#/nowhere')
    await page.clock.install()
    proxy.fault = 'hanging'
    await page.evaluate(`location.hash = '#/advertisers/1/performance'`)
    await page.getByText('Loading the account').waitFor()
    await page.clock.runFor(61_000)
    await page.getByText('The service has not answered within 60 seconds.').first().waitFor()
  })

  it('the Live page says that the service has not answered in time, not that the page is at fault', async (t) => {
    const { page } = await enter(t, stage.showcase.adminKey, '#/nowhere')
    await page.route('**/admin/v1/status', () => {})
    await page.clock.install()
    await page.evaluate(`location.hash = '#/operator/live'`)
    await page.getByText('Loading the state of the pipeline').waitFor()
    await page.clock.runFor(16_000)
    await page.getByText('The service has not answered in time.').waitFor()
  })

  it('a download during which the figures change says so', async (t) => {
    const { page } = await enter(t, stage.showcase.advertiserKey, '#/advertisers/1/performance')
    let pages = 0
    await page.route('**/groups.csv', async (route) => {
      pages += 1
      const response = await route.fetch()
      const headers = {
        ...response.headers(),
        'x-total-rows': '10001',
        'x-result-id': String(pages),
      }
      await route.fulfill({ response, headers })
    })
    await page.getByRole('button', { name: 'Download CSV' }).click()
    await page.getByText('The figures changed during the download.').waitFor()
  })
  async function comeWithout(
    t: TestContext,
    { script, locale }: Record<'script' | 'locale', string>
  ) {
    const context = await stage.browser.newContext({ locale })
    t.after(async () => await context.close())
    await context.route(`**/assets/${script}-*.js`, (route) => route.abort('connectionreset'))
    const page = await context.newPage()
    await page.goto(`${stage.showcase.url}/#/advertisers/1/placements`)
    return { context, page }
  }

  describe('scripts that do not load', () => {
    it('leave a sentence that says so where the page itself cannot begin', async (t) => {
      const { page } = await comeWithout(t, { script: 'index', locale: 'en-GB' })
      await page.getByText('a part of the dashboard could not be loaded: reload the page').waitFor()
    })

    for (const { locale, text, again } of [
      {
        locale: 'en-GB',
        text: 'A part of the dashboard could not be loaded.',
        again: 'Try again',
      },
      {
        locale: 'de-DE',
        text: 'Ein Teil des Dashboards konnte nicht geladen werden.',
        again: 'Erneut versuchen',
      },
    ]) {
      it(`are told in the language of the reader, and trying again opens the page that was asked for, in ${locale}`, async (t) => {
        const { context, page } = await comeWithout(t, { script: 'app', locale })
        await page.getByRole('alert').getByText(text).waitFor()
        assert.deepEqual(await findBarriers(page), [])
        await context.unrouteAll()
        await page.getByRole('button', { name: again }).click()
        await signIn(page, stage.showcase.advertiserKey)
        await settled(page)
        assert.match(page.url(), /#\/advertisers\/1\/placements/u)
        assert.equal(await page.locator('.not-started').count(), 0)
      })
    }
  })
})
