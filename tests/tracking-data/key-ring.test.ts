import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import {
  activateKey,
  addKey,
  createKeyRing,
  createMinter,
  createOpener,
  formatKeyRing,
  type KeyRing,
  parseKeyRing,
  removeKey,
  TrackingDataError,
} from '../../src/tracking-data/tracking-data.ts'
import { anAd, createTestRandom } from './builders.ts'

const secretA = Buffer.alloc(32, 'a').toString('base64')
const secretB = Buffer.alloc(32, 'b').toString('base64')

function aRing(changes: Record<string, unknown> = {}) {
  return { active: '0000000a', keys: [{ id: '0000000a', key: secretA }], ...changes }
}

function withKey(changes: Record<string, unknown>) {
  return aRing({ keys: [{ id: '0000000a', key: secretA, ...changes }] })
}

function faultsOf(input: unknown): string[] {
  try {
    parseKeyRing(input)
  } catch (error) {
    assert.ok(error instanceof TrackingDataError)
    assert.match(error.message, /^invalid key ring: /)
    for (const secret of [secretA, secretB, secretA.slice(0, 8)]) {
      assert.ok(!error.message.includes(secret), 'the message holds a secret')
    }
    return error.faults.map(({ field, rule }) => `${field} ${rule}`)
  }
  return []
}

function idsOf(ring: KeyRing): string[] {
  return ring.keys.map(({ id }) => id)
}

test('a ring reads the same from its text and from the parsed value', () => {
  const value = aRing({
    keys: [
      { id: '0000000a', key: secretA },
      { id: 'ffffffff', key: secretB, publishers: [10, 20] },
    ],
  })

  const ring = parseKeyRing(JSON.stringify(value))

  assert.equal(ring.active, '0000000a')
  assert.deepEqual(
    ring.keys.map(({ id, publishers }) => ({ id, publishers })),
    [
      { id: '0000000a', publishers: 'all' },
      { id: 'ffffffff', publishers: [10, 20] },
    ]
  )
  assert.equal(formatKeyRing(parseKeyRing(value)), formatKeyRing(ring))
  assert.equal(formatKeyRing(parseKeyRing(`\uFEFF${JSON.stringify(value)}`)), formatKeyRing(ring))
  assert.deepEqual(JSON.parse(formatKeyRing(ring)), value)
})

test('a ring that was written opens the tokens of the ring it came from', () => {
  const ring = addKey(createKeyRing({ publishers: [10] }))
  const { trackingData } = createMinter(ring).mint(anAd())

  const opened = createOpener(parseKeyRing(formatKeyRing(ring))).open(trackingData)

  assert.ok(opened.ok)
})

const listRule = '/keys must be a list of 1 to 1000 keys'
const keyRule = '/keys/0/key must be 32 bytes in padded base64'
const publishersRule =
  '/keys/0/publishers must be a list of 1 to 10000 integers from 1 to 2147483647'
const entryRule = '/keys/0 must be an object with only the fields id, key and publishers'
const ringRule = '/ must be JSON: an object with only the fields active and keys'
const activeRule = '/active must be the id of one of the keys'
const idRule = '/keys/0/id must be 8 lower-case hexadecimal digits'

const brokenRings: readonly (readonly [string, unknown, string])[] = [
  ['no JSON', `{"active": ${secretA}`, ringRule],
  ['nothing', undefined, ringRule],
  ['null', null, ringRule],
  ['a list', [], ringRule],
  ['an unknown field', aRing({ activ: '' }), ringRule],
  ['no keys', aRing({ keys: undefined }), listRule],
  ['an empty list of keys', aRing({ keys: [] }), listRule],
  ['too many keys', aRing({ keys: Array.from({ length: 1_001 }) }), listRule],
  ['an unknown active key', aRing({ active: '0000000b' }), activeRule],
  ['no active key', aRing({ active: undefined }), activeRule],
  ['a key that is text', aRing({ active: secretA, keys: [secretA] }), entryRule],
  // A misspelt `publishers` would lift the bound without a word.
  ['a misspelt bound', withKey({ publisher: [10] }), entryRule],
  ['a long id', withKey({ id: '00000000a' }), idRule],
  ['an id in capitals', withKey({ id: '0000000A' }), idRule],
  ['an id that is a number', withKey({ id: 10 }), idRule],
  ['a short secret', withKey({ key: Buffer.alloc(31).toString('base64') }), keyRule],
  ['a long secret', withKey({ key: Buffer.alloc(33).toString('base64') }), keyRule],
  ['an unpadded secret', withKey({ key: secretA.replace('=', '') }), keyRule],
  ['a secret with a blank', withKey({ key: `${secretA} ` }), keyRule],
  ['a secret with stray bits', withKey({ key: secretA.replace(/.=$/, 'F=') }), keyRule],
  ['no secret', withKey({ key: undefined }), keyRule],
  ['a bound to nobody', withKey({ publishers: [] }), publishersRule],
  ['a bound to null', withKey({ publishers: null }), publishersRule],
  ['a bound to the word all', withKey({ publishers: 'all' }), publishersRule],
  ['a bound to publisher 0', withKey({ publishers: [0] }), publishersRule],
  ['a bound to text', withKey({ publishers: ['10'] }), publishersRule],
]

for (const [name, input, fault] of brokenRings) {
  test(`a ring with ${name} is refused by field and rule, without a secret`, () => {
    assert.ok(faultsOf(input).includes(fault), faultsOf(input).join('\n'))
  })
}

test('every fault of a ring is named at once', () => {
  const keys = [
    { id: '1', key: secretA },
    { id: '0000000a', key: 'short', publishers: [-1] },
  ]

  assert.deepEqual(
    faultsOf(aRing({ keys })).map((fault) => fault.split(' ')[0]),
    ['/keys/0/id', '/keys/1/key', '/keys/1/publishers', '/active']
  )
})

test('two keys with one id, or one secret under two ids, are refused', () => {
  const twice = (id: string, key: string) =>
    faultsOf(
      aRing({
        keys: [
          { id: '0000000a', key: secretA, publishers: [10] },
          { id, key },
        ],
      })
    )

  assert.match(twice('0000000a', secretB)[0] ?? '', /^\/keys\/1\/id must differ/)
  assert.match(twice('0000000b', secretA)[0] ?? '', /^\/keys\/1\/key must differ/)
})

test('a new ring has one active random key', () => {
  const [first, second] = [createKeyRing(), createKeyRing()]

  assert.equal(first.keys.length, 1)
  assert.equal(first.keys[0]?.id, first.active)
  assert.notEqual(formatKeyRing(first), formatKeyRing(second))
})

test('adding, activating and removing rotate the ring and leave the old one as it was', () => {
  const old = createKeyRing()
  const added = addKey(old, { publishers: [10] })
  const [oldId = '', newId = ''] = idsOf(added)
  const activated = activateKey(added, newId)
  const removed = removeKey(activated, oldId)

  assert.deepEqual(idsOf(old), [oldId])
  assert.equal(added.active, oldId)
  assert.deepEqual(added.keys[1]?.publishers, [10])
  assert.equal(activated.active, newId)
  assert.deepEqual(idsOf(removed), [newId])
})

test('the active key and an unknown key cannot be removed, an unknown one not activated', () => {
  const ring = addKey(createKeyRing())

  assert.throws(() => removeKey(ring, ring.active), TrackingDataError)
  assert.throws(() => removeKey(ring, 'unknown'), TrackingDataError)
  assert.throws(() => activateKey(ring, 'unknown'), TrackingDataError)
  assert.throws(() => createMinter({ ...ring, active: 'unknown' }), TrackingDataError)
})

test('a new key never takes an id that the ring has', () => {
  const bytes = [Buffer.alloc(32, 1), Buffer.alloc(4, 1), Buffer.alloc(32, 2), Buffer.alloc(4, 1)]
  const spare = createTestRandom('id')
  const random = (length: number) => bytes.shift() ?? spare(length)
  const ring = addKey(createKeyRing({ random }), { random })

  assert.equal(idsOf(ring)[0], '01010101')
  assert.equal(new Set(idsOf(ring)).size, 2)
})

test('a full ring takes no further key, and a key no empty bound', () => {
  const ring = createKeyRing()
  const [key] = ring.keys
  assert.ok(key)
  const full = { ...ring, keys: Array.from({ length: 1_000 }, () => key) }

  assert.throws(() => addKey(full), TrackingDataError)
  assert.throws(() => addKey(ring, { publishers: [] }), TrackingDataError)
})

test('printing a ring shows no secret', () => {
  const ring = parseKeyRing(aRing())
  const hex = Buffer.from(secretA, 'base64').toString('hex')

  for (const text of [JSON.stringify(ring), inspect(ring, { depth: 9, showHidden: true })]) {
    assert.ok(!text.includes(secretA) && !text.includes(hex) && !text.includes('61 61 61'))
  }
})
