import assert from 'node:assert/strict'
import { createHash, createHmac } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { createIdentityHasher } from '../../src/domain/identity.ts'
import { unlessPlaceholder } from '../../src/domain/placeholder.ts'

const secret = Buffer.alloc(32, 0x2a)

const words =
  'undefined undef null none nil NaN -1 true false empty - -- anon anonymous guest unknown optout deleted redacted unauthenticated'
const zeros = [
  '0',
  '0'.repeat(8),
  '0'.repeat(12),
  '0'.repeat(32),
  '00000000-0000-0000-0000-000000000000',
]
const highest = ['f'.repeat(32), 'ffffffff-ffff-ffff-ffff-ffffffffffff']
const names =
  'user_id userid user-id userId $user_id $userId user_logged_in_id customerId item_group_id'
const placeholders = [
  ...words.split(' '),
  ...zeros,
  ...highest,
  ...names.split(' '),
  '[object Object]',
]

test('a placeholder is no identity, in any case and with white space around it', () => {
  for (const word of placeholders) {
    for (const id of [word, word.toUpperCase(), word.toLowerCase(), ` ${word}\t`]) {
      assert.equal(unlessPlaceholder(id), '', JSON.stringify(id))
    }
  }
})

test('the digest of nothing is no identity, in whatever form a shop sends it', () => {
  for (const nothing of ['', 'null', 'undefined']) {
    const digest = (algorithm: string) => createHash(algorithm).update(nothing)
    const base64 = digest('sha256').digest('base64')
    const digests = [
      ...['md5', 'sha1', 'sha256', 'sha512'].map((algorithm) => digest(algorithm).digest('hex')),
      base64,
      base64.replaceAll('=', ''),
      digest('sha256').digest('base64url'),
    ]
    for (const id of digests) {
      assert.equal(unlessPlaceholder(id), '', id)
      assert.equal(unlessPlaceholder(` "${id}"`), '', id)
    }
    for (const id of digests.slice(0, 4)) assert.equal(unlessPlaceholder(id.toUpperCase()), '', id)
  }
})

test('the digest of an id is an identity', () => {
  for (const algorithm of ['md5', 'sha1', 'sha256', 'sha512']) {
    const id = createHash(algorithm).update('shopper-1').digest('hex')
    assert.equal(unlessPlaceholder(id), id)
  }
})

test('an empty or blank id is no identity', () => {
  for (const id of ['', ' ', '\t\r\n', '\u00A0', '\u3000', ' '.repeat(128)]) {
    assert.equal(unlessPlaceholder(id), '', JSON.stringify(id))
  }
})

// What formatters, spreadsheets and tag managers make of an id that is not there.
const unfilled = [
  '(null)',
  '<null>',
  '"null"',
  "'undefined'",
  '[null]',
  '{}',
  '""',
  '(not set)',
  '(none)',
  '(unknown)',
  'Optional(nil)',
  'Optional("")',
  'N/A',
  'NA',
  '<NA>',
  String.raw`\N`,
  '#N/A',
  '"#N/A"',
  '#N/D',
  '#NV',
  '#REF!',
  '#DIV/0!',
  '#\u00a1VALOR!',
  '#\u00bfNOMBRE?',
  '########',
  'Err:502',
  'not set',
  'not_set',
  'undefinedundefined',
  'null-null',
  'null|null',
  '[redacted]',
  '{user_id}',
  '(-)',
  '[object Undefined]',
  '[object HTMLInputElement]',
  '{00000000-0000-0000-0000-000000000000}',
]
const macros = [
  '{{user_id}}',
  '{{ customer.id }}',
  '{{{userId}}}',
  "{{ customer.isKnown ? customer.id : '' }}",
  '${userId}',
  '${user.id2}',
  '${0}',
  '#{user.id}',
  '%%USER_ID%%',
  '%%PATTERN:userid%%',
  '<%= user.id %>',
  '<?= $userId ?>',
  '[USER_ID]',
  '[user-id]',
  '[UserID]',
  '<user_id>',
  '<YOUR USER ID>',
  '{user_id}',
  '{hashedUserId}',
  '%USER_ID%',
  '__USER_ID__',
  '[CUSTOMER_ID]',
  '{0}',
  '%s',
  '%@',
]

test('what stands for an id that was not there is no identity', () => {
  for (const word of [...unfilled, ...macros]) {
    for (const id of [word, word.toUpperCase(), word.toLowerCase(), ` ${word}\n`]) {
      assert.equal(unlessPlaceholder(id), '', JSON.stringify(id))
    }
  }
})

test('an id in brackets or quotes, or beside them, is an identity', () => {
  const ids = [
    '[alice]',
    '<alice@shop.example>',
    '(bob)',
    '"4711"',
    "'x'",
    '{alice}',
    '%alice%',
    '__alice__',
    '[id7]',
    '{3F2504E0-4F89-11D3-9A0C-0305E82C3301}',
    '{{3F2504E0-4F89-11D3-9A0C-0305E82C3301}}',
    '${48151623}',
    '{{user_id}}-7',
    'x-${userId}',
    '%%4711%%',
    '%%',
    '%',
    '[',
    '{{',
    '(',
    '"',
    '[user_id',
    'user_id_7',
    'id',
    'uid',
    'user',
    'user_ids',
    '$id',
    '{"id":"7"}',
    'Nannan',
    'nilnil',
    'nullable',
    'undefined1',
    'n/a/1',
    'Optional(7)',
    'Optional("7")',
    '#17',
    '$17',
    '%4711',
    '[object Object] 7',
    '{{'.repeat(64),
    '[id'.repeat(42),
    '#N',
    '{0}{1}',
    '(null) 7',
    '((1))',
  ]
  for (const id of ids) assert.equal(unlessPlaceholder(id), id)
})

test('every id of letters, digits and the marks of usual ids is an identity, but for the words', () => {
  const character = fc.constantFrom(...'abcdefXYZ0123456789-_.:@+/=|~'.split(''))
  fc.assert(
    fc.property(fc.string({ unit: character, minLength: 3, maxLength: 128 }), (id) => {
      // Zeros only may be a UUID's, and no other word is made of these.
      fc.pre(/[1-9a-z]/i.test(id) && id !== 'n/a')
      assert.equal(unlessPlaceholder(id), id)
    })
  )
})

test('the longest id is looked at in a moment, whatever it holds', () => {
  const pieces = [
    '{',
    '(',
    '"',
    '%',
    '<',
    '[',
    '$',
    '_',
    'id',
    'user',
    ' ',
    '[user',
    '{{1',
    '%%a',
    'null',
    'null-',
  ]
  for (const piece of pieces) {
    const id = piece.repeat(128).slice(0, 128)
    assert.ok([id, ''].includes(unlessPlaceholder(id)))
    assert.equal(unlessPlaceholder(`${id}7!`), `${id}7!`)
  }
})

test('an id that only contains a placeholder is an identity', () => {
  const ids = [
    'null0',
    'guest-7',
    '01',
    '00-1',
    '-2',
    '1',
    'nobody',
    'deleted user',
    'untrue',
    '-0-',
  ]
  for (const id of [...ids, '00000000-0000-0000-0000-000000000001', 'x'.repeat(128)]) {
    assert.equal(unlessPlaceholder(id), id)
  }
})

test('an id is exact text: white space and case make another one', () => {
  const hash = createIdentityHasher(secret)

  assert.equal(unlessPlaceholder(' a '), ' a ')
  assert.equal(new Set([' a', 'a', 'A', 'a '].map((id) => hash('user', 10, id))).size, 4)
})

test('an identity is the first half of the HMAC over kind, publisher and id', () => {
  const expected = createHmac('sha256', secret).update('login\u000010\u0000L1').digest('hex')

  const identity = createIdentityHasher(secret)('login', 10, 'L1')

  assert.equal(identity, expected.slice(0, 32))
  assert.match(identity, /^[0-9a-f]{32}$/)
})

test('no identity has no hash, so that strangers never share one', () => {
  const hash = createIdentityHasher(secret)

  for (const id of ['', '  ', ...placeholders]) assert.equal(hash('user', 10, id), '')
})

test('the same id at another publisher, of another kind or under another secret is somebody else', () => {
  const hash = createIdentityHasher(secret)
  const other = createIdentityHasher(Buffer.alloc(32, 0x2b))

  const identities = [hash('user', 1, 'u'), hash('user', 2, 'u'), hash('login', 1, 'u')]

  assert.equal(new Set([...identities, other('user', 1, 'u')]).size, 4)
})

test('moving characters between publisher and id gives another identity', () => {
  const hash = createIdentityHasher(secret)

  assert.notEqual(hash('user', 1, '01'), hash('user', 10, '1'))
  assert.notEqual(hash('user', 1, '2\u00003'), hash('user', 1, '2'))
})

test('equal input gives equal identities, from any process that holds the secret', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1 }), (id, publisherId) => {
      const first = createIdentityHasher(secret)('user', publisherId, id)
      const second = createIdentityHasher(Buffer.from(secret))('user', publisherId, id)
      assert.equal(first, second)
    })
  )
})

test('changing the buffer afterwards does not change the secret', () => {
  const buffer = Buffer.from(secret)
  const hash = createIdentityHasher(buffer)

  buffer.fill(0)

  assert.equal(hash('user', 1, 'u'), createIdentityHasher(secret)('user', 1, 'u'))
})

test('a secret short enough to guess is a fault of the caller', () => {
  assert.throws(() => createIdentityHasher(Buffer.alloc(15)), /at least 16 bytes/)
})

test('an identity is the start of the HMAC-SHA-256 of RFC 2104, for secrets and ids of every length', () => {
  for (const key of [16, 32, 64, 65, 200].map((length) => Buffer.alloc(length, 'k'))) {
    const hashIdentity = createIdentityHasher(key)
    for (const id of ['a', 'ä'.repeat(128), '\u{1f600}'.repeat(128), 'x'.repeat(5_000), 'b']) {
      const whole = createHmac('sha256', key).update(`login\u000010\u0000${id}`).digest('hex')
      assert.equal(hashIdentity('login', 10, id), whole.slice(0, 32))
    }
  }
})

test('ids of any length and alphabet are hashed alike', () => {
  const hash = createIdentityHasher(secret)
  const ids = ['x'.repeat(107), 'x'.repeat(108), 'x'.repeat(109), 'x'.repeat(2_000), 'ä', '購入者']

  for (const id of ids) {
    const expected = createHmac('sha256', secret).update(`user\u000010\u0000${id}`).digest('hex')
    assert.equal(hash('user', 10, id), expected.slice(0, 32))
  }
})
