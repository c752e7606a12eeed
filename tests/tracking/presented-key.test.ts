// Keys of deliveries at the tracker: written down as a hash, judged elsewhere, and never a reason to refuse.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { sendAndReset } from '../helpers/reset-sender.ts'
import { aConversion, startTracker } from './fixture.ts'
import type { Tracker } from './fixture.ts'

const key = `st_${'aB3_-'.repeat(9).slice(0, 43)}`
const hash = createHash('sha256').update(key).digest('hex')
const bodies = {
  '/conversion': aConversion(),
  '/return': {
    publisher_id: 10,
    transaction_id: 't-1',
    return_id: 'r-1',
    products: [{ gtin: '4006381333931', quantity: 1 }],
  },
} as const
const paths = ['/conversion', '/return'] as const

function keysOf(tracker: Tracker): readonly string[] {
  return tracker
    .records()
    .flatMap((record) => (record.type === 'ad-event' ? [] : [record.presentedKey]))
}

/** As bytes, since clients refuse to send some of them. */
async function deliver(tracker: Tracker, path: keyof typeof bodies, lines: readonly string[]) {
  const body = JSON.stringify(bodies[path])
  const head = [`POST ${path} HTTP/1.1`, 'host: x', 'connection: close', ...lines]
  const text = `${head.join('\r\n')}\r\ncontent-length: ${body.length}\r\n\r\n${body}`
  return await tracker.raw(Buffer.from(text, 'latin1'))
}

const presented: readonly (readonly [name: string, lines: readonly string[], kept: string])[] = [
  ['no header', [], 'none'],
  ['a key', [`Authorization: Bearer ${key}`], hash],
  ['the scheme in any case, and blanks', [`AUTHORIZATION:  bEARER   ${key}  `], hash],
  ['an empty header', ['Authorization:'], 'malformed'],
  ['the scheme alone', ['Authorization: Bearer'], 'malformed'],
  ['another scheme', ['Authorization: Basic c3Q6a2V5'], 'malformed'],
  ['no scheme', [`Authorization: ${key}`], 'malformed'],
  ['one character less', [`Authorization: Bearer ${key.slice(0, -1)}`], 'malformed'],
  ['one character more', [`Authorization: Bearer ${key}x`], 'malformed'],
  ['a prefix in capitals', [`Authorization: Bearer ST_${key.slice(3)}`], 'malformed'],
  ['a character of another alphabet', [`Authorization: Bearer ${key.slice(0, -1)}+`], 'malformed'],
  ['8 KiB', [`Authorization: Bearer st_${'x'.repeat(8_192)}`], 'malformed'],
  ['binary', ['Authorization: Bearer \x80\xff\xfe\x01'.replace('\x01', '\xa0')], 'malformed'],
  ['two headers', [`Authorization: Bearer ${key}`, `authorization: Bearer ${key}`], 'malformed'],
  ['two keys in one', [`Authorization: Bearer ${key}, Bearer ${key}`], 'malformed'],
]

for (const path of paths) {
  test(`${path}: whatever the header holds, the delivery is stored and answered with 200`, async (t) => {
    const tracker = await startTracker(t)

    for (const [name, lines] of presented) {
      const answer = await deliver(tracker, path, lines)
      assert.match(answer, /^HTTP\/1\.1 200 /u, name)
    }

    assert.deepEqual(
      keysOf(tracker),
      presented.map(([, , kept]) => kept)
    )
  })
}

test('neither the spool nor the log has the text of a key', async (t) => {
  const tracker = await startTracker(t)

  for (const path of paths) await deliver(tracker, path, [`Authorization: Bearer ${key}`])

  const kept = JSON.stringify([tracker.records(), tracker.logged])
  assert.ok(kept.includes(hash))
  for (const piece of [key, key.slice(3, 20), key.slice(-20)]) assert.ok(!kept.includes(piece))
})

test('the key is known with the head, whatever happens to the connection behind it', async (t) => {
  const tracker = await startTracker(t)
  const body = Buffer.from(JSON.stringify(bodies['/conversion']))

  for (let sent = 0; sent < 20; sent += 1) {
    await sendAndReset(
      { port: tracker.port, path: '/conversion' },
      { body, headers: { authorization: `Bearer ${key}` } }
    )
  }
  await deliver(tracker, '/conversion', [`Authorization: Bearer ${key}`])

  assert.deepEqual([...new Set(keysOf(tracker))], [hash])
})
