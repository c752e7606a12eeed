// The demo and a browser for the tests of a file, and visitors who are signed in.
import { after, before, type TestContext } from 'node:test'
import type { Browser } from 'playwright-core'
import { openShowcase, type Showcase, type ShowcasePlan } from '../../scripts/demo/showcase.ts'
import { launchBrowser, settled, signIn, visit, type Visit } from './browser.ts'

/** Opened before the tests of the suite that calls it, closed after them. */
export class Stage {
  #showcase: Showcase | null = null
  #browser: Browser | null = null

  constructor(plan: ShowcasePlan) {
    before(async () => {
      this.#showcase = await openShowcase(plan)
      this.#browser = await launchBrowser()
    })
    after(async () => {
      await this.#browser?.close()
      await this.#showcase?.close()
    })
  }

  get showcase(): Showcase {
    if (this.#showcase === null) throw new Error('the showcase is open only while tests run')
    return this.#showcase
  }

  get browser(): Browser {
    if (this.#browser === null) throw new Error('the browser is open only while tests run')
    return this.#browser
  }

  /** Signed in with the key, at a page on which nothing is loading any more. */
  async enter(t: TestContext, { key, ...asked }: Entry) {
    const { browser, showcase } = this
    const visitor = await visit({ browser, url: showcase.url, ...asked }, t)
    await signIn(visitor.page, key)
    await settled(visitor.page)
    return visitor
  }
}

interface Entry extends Omit<Visit, 'browser' | 'url'> {
  readonly key: string
}
