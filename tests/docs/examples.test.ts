// The guides and the OpenAPI document show the same requests, so that what is tried in one place is found in
// the other. The guides' own test runs them.
import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import { test } from 'node:test'
import { examples } from '../../src/contract/examples/examples.ts'
import { operations } from '../../src/contract/operations.ts'
import { readBlocks } from './markdown.ts'

const shownIn: readonly (readonly [operationId: string, guide: string])[] = [
  ['deliverConversion', 'publisher'],
  ['deliverReturn', 'publisher'],
  ['mintTrackingLinks', 'ad-server'],
  ['putCatalog', 'operator'],
  ['putRates', 'operator'],
  ['downloadSpaProductReport', 'advertiser'],
  ['readSpaProductReport', 'advertiser'],
  ['addDisplayAdGroupAsset', 'advertiser'],
]

for (const [operationId, guide] of shownIn) {
  test(`the example of ${operationId} is the request in the guide ${guide}`, () => {
    const example = examples[operationId]?.body
    const bodies = bodiesIn(guide)

    assert.ok(example !== undefined)
    assert.ok(
      bodies.some((body) => isDeepStrictEqual(body, example)),
      JSON.stringify(example)
    )
  })
}

const addressesIn: readonly (readonly [operationId: string, guide: string])[] = [
  ['listEligibleSiteLocations', 'advertiser'],
  ['explainAttribution', 'advertiser'],
  ['downloadTrafficQuality', 'advertiser'],
  ['downloadAttributions', 'advertiser'],
]

for (const [operationId, guide] of addressesIn) {
  test(`the example of ${operationId} is the address in the guide ${guide}`, () => {
    const operation = operations.find((one) => one.operationId === operationId)
    const { path = {}, query = {} } = examples[operationId] ?? {}
    const address = operation?.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
      String(path[name])
    )
    const search = Object.entries(query).map((pair) => pair.join('='))
    const shown = [address, search.join('&')].filter((part) => part !== '').join('?')

    const text = readBlocks(`docs/guides/${guide}.md`).map((block) => block.text)

    assert.ok(text.join('\n').includes(`${shown}"`), shown)
  })
}

test('the answers that the guides show of intake and assets are those of the examples', () => {
  assert.ok(isShown('publisher', examples['readIntake']?.answers?.['200']))
  assert.ok(isShown('advertiser', examples['addDisplayAdGroupAsset']?.answers?.['201']))
  assert.ok(isShown('advertiser', examples['listEligibleSiteLocations']?.answers?.['200']))
})

function isShown(guide: string, value: unknown): boolean {
  return value !== undefined && bodiesIn(guide).some((body) => isDeepStrictEqual(body, value))
}

/** Blocks of JSON, what is sent behind `-d`, and what is printed into a file. */
function bodiesIn(guide: string): readonly unknown[] {
  return readBlocks(`docs/guides/${guide}.md`).flatMap(({ language, text }) => {
    if (language === 'json') return [JSON.parse(text) as unknown]
    const sent = [...text.matchAll(/-d '(\{[^']*\})'/gu)].map(([, json = '']): unknown =>
      JSON.parse(json)
    )
    const printed = [...text.matchAll(/printf '([^']*)' >/gu)].map(([, line = '']) =>
      line.replaceAll(String.raw`\n`, '\n')
    )
    return sent.concat(printed)
  })
}
