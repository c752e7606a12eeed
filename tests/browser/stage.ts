// The demo and a browser for the tests of a file, and visitors who are signed in.
import { after, before, type TestContext } from 'node:test'
import type { Browser } from 'playwright-core'
import type { Showcase, ShowcasePlan } from '../../scripts/demo/showcase.ts'
import { launchBrowser, settled, signIn, visit, type Visit } from './browser.ts'
import { openPlayed } from './played-once.ts'

/** Three weeks of an account, as most tests of the dashboard need. Each further plan costs a demo of its own. */
const usualPlan = { shoppers: 60, days: 20, adsPerDay: 1_200 }

/** Opened before the tests of the suite that calls it, closed after them. */
export class Stage {
  #showcase: Showcase | null = null
  #browser: Browser | null = null

  constructor(plan: ShowcasePlan = usualPlan) {
    before(async () => {
      this.#showcase = await openPlayed(plan)
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
