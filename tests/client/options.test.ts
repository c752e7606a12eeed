import assert from 'node:assert/strict'
import { inspect } from 'node:util'
import { test } from 'node:test'
import { createCampaignClient, createPublisherClient } from '../../src/client/client.ts'

type Create = (options: never) => unknown

/** What is said of the options; '' when they will do. */
function faults(options: object, create: Create = createPublisherClient): string {
  try {
    create(options as never)
  } catch (error) {
    assert.equal((error as { code: string }).code, 'OPTIONS_INVALID')
    assert.ok(!inspect(error).includes('hunter2'))
    return (error as Error).message
  }
  return ''
}

test('options that break a rule are told by name, and an address never with the password in it', () => {
  assert.match(faults({}), /\/url is required/)
  assert.match(faults({ url: 'shop.example' }), /\/url must be an absolute http: or https: address/)
  assert.match(faults({ url: 'ftp://shop.example' }), /\/url must be an absolute/)
  assert.match(faults({ url: 'https://me:hunter2@shop.example' }), /\/url must not hold a user/)
  assert.match(faults({ url: 'https://shop.example/?key=hunter2' }), /\/url must not have a query/)
  assert.match(faults({ url: 'http://shop.example' }), /\/url must be an https: address/)
  assert.match(faults({ url: 'http://127.shop.example' }), /\/url must be an https: address/)
  assert.match(faults({ url: 'https://s.example', timeoutMs: 0 }), /\/timeoutMs must be at least 1/)
  assert.match(
    faults({ url: 'https://s.example', attemptsMax: 1.5 }),
    /\/attemptsMax must be integer/
  )
  assert.equal(faults({ url: 'http://shop.example', allowPlainHttp: true }), '')
  for (const url of [
    'http://localhost:1',
    'http://127.0.0.9',
    'http://[::1]:1',
    'https://s.example',
  ]) {
    assert.equal(faults({ url }), '')
  }
})

const notKeys = [
  '',
  'with blank',
  'hunter2\n',
  'hunter2é',
  'undefined',
  'null',
  '"hunter2"',
  "'hunter2'",
  '"hunter2',
  "hunter2'",
  '"',
]

test('what a program makes of a missing variable or of a quoted one is no key, and is not repeated', () => {
  const url = 'https://s.example'
  for (const create of [createPublisherClient, createCampaignClient]) {
    for (const key of notKeys) {
      assert.match(
        faults({ url, key }, create),
        /\/key must be a key as it was handed out, without blanks, line ends or quotes around it, and not the word undefined or null$/,
        JSON.stringify(key)
      )
    }
    assert.match(faults({ url, key: null }, create), /\/key must be string/)
    for (const key of ['st_undefined', 'nullable', `st_"quote'inside`, 'x']) {
      assert.equal(faults({ url, key }, create), '', key)
    }
  }
})

test('a key that is undefined is refused, and only one that was left out means that there is none', () => {
  const url = 'https://s.example'

  assert.match(
    faults({ url, key: undefined }),
    /\/key must not be undefined: is the variable set from which it comes\? Leave key out to send without a key$/
  )
  assert.equal(faults({ url }), '')
  assert.match(faults({ url, key: undefined }, createCampaignClient), /\/key is required$/)
  assert.match(faults({ url }, createCampaignClient), /\/key is required$/)
})
