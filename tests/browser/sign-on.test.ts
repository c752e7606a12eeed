// People whom a proxy in front signs in: the dashboard without a key.
import assert from 'node:assert/strict'
import { after, before, describe, it, type TestContext } from 'node:test'
import type { Browser } from 'playwright-core'
import { aBundle } from '../helpers/bundle.ts'
import { prepareService, type Service } from '../helpers/service.ts'
import {
  sessionCookie,
  signOutPath,
  startSignOnProxy,
  type SignOnProxy,
} from '../helpers/sign-on-proxy.ts'
import { launchBrowser, noBrowser, open, settled, signIn, visit } from './browser.ts'
import { assertFits, assertNoTrace, findBarriers } from './read-page.ts'

describe('the dashboard behind a sign-on', { skip: noBrowser, timeout: 600_000 }, () => {
  const closers: (() => Promise<void>)[] = []
  let service: Service
  let proxy: SignOnProxy
  let browser: Browser

  before(async () => {
    const env = {
      SHELFTRACE_TRACKERS: '1',
      SHELFTRACE_TRUSTED_USER_HEADER: 'X-Forwarded-Email',
      SHELFTRACE_TRUSTED_USER_PROXIES: '127.0.0.1',
      SHELFTRACE_SIGN_OUT_URL: signOutPath,
    }
    service = await prepareService({ after: (close) => closers.push(close) }, { env })
    await service.start()
    await ask('PUT', '/admin/v1/catalog', aBundle())
    await ask('POST', '/admin/v1/people', {
      ...everybody,
      person: 'boss@example.com',
      scopes: ['admin'],
    })
    proxy = await startSignOnProxy(service.campaignUrl)
    browser = await launchBrowser()
  })
  after(async () => {
    await browser?.close()
    await proxy?.close()
    for (const close of closers) await close()
  })

  const everybody = { advertisers: 'all', publishers: 'all' }

  async function ask(method: string, path: string, body?: unknown) {
    const answer = await fetch(service.campaignUrl + path, {
      method,
      headers: { authorization: `Bearer ${service.adminKey}` },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    assert.ok(answer.ok, `${method} ${path}: ${answer.status}`)
    return (await answer.json()) as Record<string, unknown>
  }

  /** With the session of the sign-on as the person. */
  async function come(t: TestContext, person: string, address = '') {
    proxy.person = person
    const visitor = await visit({ browser, url: proxy.url, address: signOutPath.slice(1) }, t)
    const [name = '', value = ''] = sessionCookie.split('=')
    await visitor.context.addCookies([{ name, value, url: proxy.url }])
    await visitor.page.goto(`${proxy.url}/${address}`)
    return visitor
  }

  it('who is signed in sees the pages without a key, by name, and leaves by the sign-out of the proxy', async (t) => {
    const { page } = await come(t, 'boss@example.com')
    await settled(page)

    await page.getByText('boss@example.com').waitFor()
    assert.equal(await page.getByLabel('Key', { exact: true }).count(), 0)
    assert.deepEqual(await findBarriers(page), [])
    await assertNoTrace(page, 'boss@example.com')
    await page.reload()
    await settled(page)
    await page.getByText('boss@example.com').waitFor()

    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Signed out' }).waitFor()
  })

  it('an operator gives somebody access on the page, and the audit says who gave it', async (t) => {
    const { page } = await come(t, 'boss@example.com', '#/operator/keys')
    await settled(page)
    await page.getByText('Make a key, or invite a person').click()
    await page.getByLabel('Name: who holds it').fill('Anna@example.com')
    await page.getByLabel('Advertisers: all, or ids').fill('1')
    await page.getByLabel('read reports').check()
    await page.getByRole('button', { name: 'Give access by sign-on' }).click()
    await page.getByText('Anna@example.com has access').waitFor()
    await page.locator('tr', { hasText: 'anna@example.com' }).getByText('By sign-on').waitFor()
    assert.deepEqual(await findBarriers(page), [])
    await assertFits(page, 'the page of keys')

    const { records } = await ask('GET', '/admin/v1/audit?action=key.admit&limit=1')
    const [record] = records as { keyName: string; details: { name: string } }[]
    assert.deepEqual(
      [record?.keyName, record?.details.name],
      ['boss@example.com', 'anna@example.com']
    )
    const anna = await come(t, 'anna@example.com')
    await settled(anna.page)
    assert.match(anna.page.url(), /#\/advertisers\/1\/performance/u)
    await anna.page.getByText('anna@example.com').waitFor()
  })

  it('who has no access is told for whom to ask, may use a key instead, and may sign out', async (t) => {
    const { page } = await come(t, 'nobody@example.com')

    await page.getByText('ask your operator to give nobody@example.com access').waitFor()
    await page.getByRole('button', { name: 'Sign out' }).waitFor()
    assert.deepEqual(await findBarriers(page), [])
    await page.getByRole('button', { name: 'Sign in with a key' }).click()
    await signIn(page, service.adminKey)
    await settled(page)
    await page.getByText("the operator's admin key").waitFor()
  })

  it('who is not signed in any more is told so, and is back where the page was left after signing in again', async (t) => {
    const { page } = await come(t, 'boss@example.com', '#/operator/keys')
    await settled(page)

    proxy.person = null
    await open(page, '#/operator/catalog').catch(() => null)
    await page.getByText('You are not signed in, or not any more.').waitFor()
    proxy.person = 'boss@example.com'
    await page.getByRole('button', { name: 'Sign in again' }).click()

    await page.getByRole('heading', { name: 'Catalog', exact: true }).first().waitFor()
    assert.match(page.url(), /#\/operator\/catalog/u)
  })

  it('a page stops once somebody else has signed in in the browser, before it shows or does anything for them', async (t) => {
    await ask('POST', '/admin/v1/people', {
      person: 'carl@example.com',
      advertisers: [1],
      scopes: ['report:read'],
    })
    const { page } = await come(t, 'boss@example.com', '#/operator/keys')
    await settled(page)
    // What was asked for the first person may be answered to them.
    await page.waitForLoadState('networkidle')
    const answered: string[] = []
    page.on('response', (response) => {
      if (response.ok()) answered.push(response.url())
    })

    proxy.person = 'carl@example.com'
    await page.evaluate(`location.hash = '#/advertisers/1/performance'`)
    await page.getByText('Somebody else has signed in in this browser').waitFor()
    assert.deepEqual(answered, [])
    assert.equal(await page.getByText('boss@example.com').count(), 0)
    assert.deepEqual(await findBarriers(page), [])

    await page.getByRole('button', { name: 'Load the page anew' }).click()
    await settled(page)
    await page.getByText('carl@example.com').waitFor()
    assert.match(page.url(), /#\/advertisers\/1\/performance/u)
  })

  it('a page of another site reads and changes nothing with the session of the reader', async (t) => {
    const { page, context } = await come(t, 'boss@example.com')
    await settled(page)
    // Another port of the same host: its cookies are sent along, as those of a sister site are.
    const evil = await startSignOnProxy(service.campaignUrl)
    t.after(() => evil.close())
    const other = await context.newPage()
    await other.goto(`${evil.url}${signOutPath}`)
    const keysBefore = (await ask('GET', '/admin/v1/keys'))['keys'] as unknown[]

    const outcomes = await other.evaluate<readonly string[]>(`Promise.all(
      [{}, { 'shelftrace-page': '1' }, { 'content-type': 'text/plain' }].flatMap((headers) =>
        ['cors', 'no-cors'].map((mode) =>
          fetch('${proxy.url}/admin/v1/people', {
            method: 'POST', mode, credentials: 'include', headers,
            body: JSON.stringify({ person: 'thief@example.com', advertisers: 'all', scopes: ['admin'] }),
          }).then(async (answer) => answer.type + (await answer.text()), () => 'refused')
        )
      )
    )`)

    assert.ok(
      outcomes.every((outcome) => ['refused', 'opaque'].includes(outcome)),
      outcomes.join()
    )
    assert.deepEqual((await ask('GET', '/admin/v1/keys'))['keys'], keysBefore)
  })
})
