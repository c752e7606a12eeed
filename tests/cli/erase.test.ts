import assert from 'node:assert/strict'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { answerWith, fileOf, folder, received, run, useCliServer } from './harness.ts'

useCliServer()

const erasure = {
  id: 'e1',
  publisherId: 10,
  state: 'requested',
  requestedAt: '2026-03-02T10:00:00.000Z',
  watchedUntil: '2026-04-01T10:00:00.000Z',
  notStored: [],
}

test('an id comes from standard input or a file, without the end of its line, and is never printed', async () => {
  answerWith(202, erasure)
  const argv = ['erase', '10', '--user-id-file', '-']
  argv.push('--user-logged-in-id-file', await fileOf(' secret login \r\n'))
  const { exitCode, stdout, stderr } = await run(argv, { stdin: Readable.from(['secret-user\n']) })

  assert.equal(exitCode, 0)
  const [call] = received
  assert.equal(call?.url, '/admin/v1/erasures')
  assert.deepEqual(JSON.parse(call?.body ?? ''), {
    publisherId: 10,
    userId: 'secret-user',
    userLoggedInId: ' secret login ',
  })
  assert.match(stdout, /Erasure e1 is requested/)
  assert.doesNotMatch(stdout + stderr, /secret/)
})

test('a byte order mark and any line end are no part of the id; blanks are', async () => {
  for (const [content, userId] of [
    ['\uFEFFshopper\n', 'shopper'],
    ['shopper\r', 'shopper'],
    ['\uFEFF\uFEFFshopper', '\uFEFFshopper'],
    ['\tshop per \n', '\tshop per '],
    ['M\u00fcller', 'M\u00fcller'],
  ] as const) {
    received.length = 0
    answerWith(202, erasure)
    const { exitCode } = await run(['erase', '10', '--user-id-file', await fileOf(content)])
    assert.equal(exitCode, 0)
    assert.equal(JSON.parse(received[0]?.body ?? '').userId, userId)
  }
})

test('an id under which nothing is stored is told, so that a slip does not pass for an erasure', async () => {
  answerWith(202, { ...erasure, notStored: ['userLoggedInId'] })
  const { stdout } = await run(['erase', '10', '--user-logged-in-id-file', await fileOf('"m-1"')])
  answerWith(202, erasure)
  const known = await run(['erase', '10', '--user-id-file', await fileOf('u-1')])

  assert.match(
    stdout,
    /Nothing is stored under this id of a logged-in person now\.\nIf something should be, check .* quotes and blanks too\./u
  )
  assert.doesNotMatch(known.stdout, /Nothing is stored/u)
})

test('an id in another encoding is refused by the name of its option, and nobody else is erased', async () => {
  const others = [
    [Buffer.from('M\u00fcller', 'latin1'), 'must be valid UTF-8'],
    [Buffer.from([0xed, 0xa0, 0x80]), 'must be valid UTF-8'],
    [Buffer.from('\uFEFFshopper', 'utf16le'), 'is text in UTF-16 and must be in UTF-8'],
    [Buffer.from('shopper', 'utf16le'), 'is text in UTF-16 and must be in UTF-8'],
    [gzipSync('shopper'), 'is a gzip file: unpack it first'],
  ] as const
  for (const option of ['user-id-file', 'user-logged-in-id-file']) {
    for (const [bytes, fault] of others) {
      const path = await fileOf(bytes)
      const { exitCode, stderr } = await run(['erase', '10', `--${option}`, path])
      assert.equal(exitCode, 1)
      assert.equal(stderr, `shelftrace: What --${option} names ${fault}.\n`)
    }
  }
  assert.deepEqual(received, [])
})

test('wrong use and files that hold no id or many are refused before anything is sent', async () => {
  const missing = join(folder, 'missing')
  const cases: readonly (readonly [argv: readonly string[], exitCode: number])[] = [
    [['10'], 2],
    [['x', '--user-id-file', '-'], 2],
    [['10', '--user-id', 'secret'], 2],
    [['10', '--user-id-file', '-', '--user-logged-in-id-file', '-'], 2],
    [['10', '--user-id-file', missing], 1],
    [['10', '--user-id-file', await fileOf('a\nb\n')], 1],
    [['10', '--user-id-file', await fileOf('a\rb\r')], 1],
    [['10', '--user-id-file', await fileOf('\uFEFF\n')], 1],
    [['10', '--user-id-file', '-'], 1],
  ]
  for (const [argv, expected] of cases) {
    const { exitCode } = await run(['erase', ...argv])
    assert.equal(exitCode, expected, argv.join(' '))
  }
  assert.deepEqual(received, [])
})

test('the list tells how far each erasure is', async () => {
  answerWith(200, {
    erasures: [{ ...erasure, state: 'erased', erasedAt: '2026-03-02T10:01:00.000Z' }],
  })
  const { stdout } = await run(['erasures', 'list'])
  answerWith(200, { erasures: [] })
  const none = await run(['erasures', 'list'])

  assert.match(stdout, /e1 +10 +erased +2026-03-02T10:00:00.000Z +2026-03-02T10:01:00.000Z/)
  assert.match(none.stdout, /No shopper was erased/)
})
