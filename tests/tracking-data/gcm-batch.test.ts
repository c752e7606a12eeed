import assert from 'node:assert/strict'
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import * as fc from 'fast-check'
import {
  BatchKey,
  fitsBatch,
  gcmLimits,
  GcmWorkspace,
  type SealedMessage,
} from '../../src/tracking-data/gcm-batch.ts'

const workspace = new GcmWorkspace()
const gcm = { authTagLength: 16 } as const

function sealWithNode(key: Uint8Array, text: Uint8Array, additionalBytes = 5): SealedMessage {
  const nonce = randomBytes(24)
  const additionalData = randomBytes(additionalBytes)
  const cipher = createCipheriv('aes-256-gcm', key, nonce.subarray(12), gcm)
  cipher.setAAD(additionalData)
  const sealed = Buffer.concat([cipher.update(text), cipher.final(), cipher.getAuthTag()])
  return { nonce, additionalData, sealed }
}

/** The reference: what node:crypto makes of the message, undefined when it throws. */
function openWithNode(key: Uint8Array, { nonce, additionalData, sealed }: SealedMessage) {
  const decipher = createDecipheriv('aes-256-gcm', key, nonce.subarray(-12), gcm)
  decipher.setAAD(additionalData)
  decipher.setAuthTag(sealed.subarray(-16))
  const text = decipher.update(sealed.subarray(0, -16))
  try {
    decipher.final()
    return text
  } catch {
    return undefined
  }
}

function toHex(texts: readonly (Buffer | undefined)[]): (string | undefined)[] {
  return texts.map((text) => text?.toString('hex'))
}

// Test cases 13 to 16 of the specification of GCM by McGrew and Viega.
const key15 = 'feffe9928665731c6d6a8f9467308308'.repeat(2)
const iv15 = 'cafebabefacedbaddecaf888'
const text15 =
  'd9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72' +
  '1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b391aafd255'
const sealed15 =
  '522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa' +
  '8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662898015ad'
const vectors = [
  ['00'.repeat(32), '00'.repeat(12), '', '', '', '530f8afbc74536b9a963b4f1c4cb738b'],
  [
    '00'.repeat(32),
    '00'.repeat(12),
    '',
    '00'.repeat(16),
    'cea7403d4d606b6e074ec5d3baf39d18',
    'd0d1c8a799996bf0265b98b5d48ab919',
  ],
  [key15, iv15, '', text15, sealed15, 'b094dac5d93471bdec1a502270e3cc6c'],
  [
    key15,
    iv15,
    'feedfacedeadbeeffeedfacedeadbeefabaddad2',
    text15.slice(0, 120),
    sealed15.slice(0, 120),
    '76fc6ece0f4e1768cddf8853bb2d551b',
  ],
] as const

for (const [index, [key, iv, additional, text, ciphertext, tag]] of vectors.entries()) {
  test(`test case ${index + 13} of the specification of GCM opens`, () => {
    const message = {
      nonce: Buffer.from(iv, 'hex'),
      additionalData: Buffer.from(additional, 'hex'),
      sealed: Buffer.from(ciphertext + tag, 'hex'),
    }

    const opened = new BatchKey(Buffer.from(key, 'hex'), workspace).open([message])

    assert.deepEqual(toHex(opened), [text])
  })
}

test('every length from 0 to 4,096 bytes opens as with node:crypto, in one batch', () => {
  const key = randomBytes(32)
  const bytes = randomBytes(4_096)
  const messages = Array.from({ length: 4_097 }, (_, length) =>
    sealWithNode(key, bytes.subarray(0, length), length % 40)
  )

  const opened = new BatchKey(key, workspace).open(messages)

  assert.equal(opened.length, messages.length)
  for (const [length, text] of opened.entries()) {
    assert.ok(text?.equals(bytes.subarray(0, length)), `${length} bytes`)
  }
})

type Part = 'nonce' | 'additionalData' | 'sealed'

/** One bit of one part flipped, wherever that is. */
function flip(message: SealedMessage, part: Part, place: number): SealedMessage {
  const bytes = Buffer.from(message[part])
  if (bytes.length === 0) return message
  // The first half of the nonce chooses the key, which is the caller's matter and not GCM's.
  const from = part === 'nonce' ? 12 : 0
  const bit = from * 8 + (place % ((bytes.length - from) * 8))
  const at = bit >> 3
  bytes[at] = bytes.readUInt8(at) ^ (0x80 >> (bit & 7))
  return { ...message, [part]: bytes }
}

const anyDamage = fc.oneof(
  { weight: 2, arbitrary: fc.constant(undefined) },
  {
    weight: 2,
    arbitrary: fc.record({
      part: fc.constantFrom<Part>('nonce', 'additionalData', 'sealed'),
      place: fc.nat(1_000_000),
    }),
  },
  { weight: 1, arbitrary: fc.record({ part: fc.constant('cut'), place: fc.integer({ min: 1 }) }) }
)

const anyLength = fc.oneof(
  { weight: 4, arbitrary: fc.nat(200) },
  { weight: 1, arbitrary: fc.nat(4_096) },
  { weight: 2, arbitrary: fc.constantFrom(0, 1, 15, 16, 17, 31, 32, 33, 4_079, 4_080, 4_096) }
)

function damage(message: SealedMessage, how: { part: string; place: number } | undefined) {
  if (how === undefined) return message
  if (how.part === 'nonce' || how.part === 'additionalData' || how.part === 'sealed') {
    return flip(message, how.part, how.place)
  }
  const spare = message.sealed.length - 16
  return spare === 0
    ? message
    : { ...message, sealed: message.sealed.subarray(1 + (how.place % spare)) }
}

// Law: the batch is a map of node:crypto over its messages, whatever they are and wherever they stand.
test('any batch of genuine, altered and cut messages opens exactly as with node:crypto', () => {
  const keys = [randomBytes(32), randomBytes(32), randomBytes(32)]
  const batchKeys = keys.map((key) => new BatchKey(key, workspace))
  const anyMessage = fc.record({ length: anyLength, additional: fc.nat(40), how: anyDamage })

  fc.assert(
    fc.property(
      fc.array(anyMessage, { minLength: 1, maxLength: 300, size: 'max' }),
      fc.nat(2),
      fc.nat(9),
      (specs, which, foreignEvery) => {
        const key = keys[which] ?? assert.fail()
        const foreign = keys[(which + 1) % 3] ?? assert.fail()
        const messages = specs.map(({ length, additional, how }, index) => {
          const isForeign = index % 10 === foreignEvery
          const sealed = sealWithNode(isForeign ? foreign : key, randomBytes(length), additional)
          return damage(sealed, how)
        })

        const opened = batchKeys[which]?.open(messages) ?? []

        assert.deepEqual(
          toHex(opened),
          toHex(messages.map((message) => openWithNode(key, message)))
        )
      }
    ),
    { numRuns: 60 }
  )
})

test('a message with any one bit altered never opens, and its neighbours still do', () => {
  const key = randomBytes(32)
  const text = randomBytes(37)
  const message = sealWithNode(key, text)
  const batchKey = new BatchKey(key, workspace)

  for (const part of ['nonce', 'additionalData', 'sealed'] as const) {
    const bits = (message[part].length - (part === 'nonce' ? 12 : 0)) * 8
    const altered = Array.from({ length: bits }, (_, place) => flip(message, part, place))

    const opened = batchKey.open(altered.flatMap((one) => [message, one]))

    for (const [index, one] of opened.entries()) {
      assert.equal(one?.equals(text), index % 2 === 0 ? true : undefined, `${part} ${index}`)
    }
  }
})

// 4,095 blocks of text: the counter runs through all of its low byte and far into the next.
test('the longest message that fits a batch opens, and a longer one is a fault of the caller', () => {
  const key = randomBytes(32)
  const text = randomBytes(gcmLimits.chunkBytesMax - 16)
  const longest = sealWithNode(key, text)
  const small = sealWithNode(key, randomBytes(100))
  const longer = sealWithNode(key, Buffer.alloc(text.length + 1))
  const batchKey = new BatchKey(key, workspace)

  const opened = batchKey.open([small, longest, small, small, longest])

  assert.deepEqual(
    opened.map((one) => one?.length),
    [100, text.length, 100, 100, text.length]
  )
  assert.ok(opened[1]?.equals(text))
  assert.ok(fitsBatch(longest.sealed.length))
  assert.ok(!fitsBatch(longer.sealed.length))
  assert.throws(() => batchKey.open([small, longer]), /fits a batch/)
})

// Its counter blocks are 12 ones and a counter, so a carry out of the 32 bits would show.
test('the counter of 32 bits never carries into the nonce', () => {
  const key = randomBytes(32)
  const iv = Buffer.alloc(12, 0xff)
  const text = randomBytes(8_192)
  const cipher = createCipheriv('aes-256-gcm', key, iv, gcm)
  const sealed = Buffer.concat([cipher.update(text), cipher.final(), cipher.getAuthTag()])

  const [opened] = new BatchKey(key, workspace).open([
    { nonce: iv, additionalData: Buffer.alloc(0), sealed },
  ])

  assert.ok(opened?.equals(text))
})

test('what is shorter than a tag does not fit, and no messages give no plaintexts', () => {
  const batchKey = new BatchKey(randomBytes(32), workspace)

  assert.ok(!fitsBatch(15))
  assert.ok(fitsBatch(16))
  assert.deepEqual(batchKey.open([]), [])
})

test('later batches leave the plaintexts of earlier ones alone', () => {
  const keys = [randomBytes(32), randomBytes(32)]
  const [first, second] = keys.map((key) => new BatchKey(key, workspace))
  const text = randomBytes(300)
  const [opened] = first?.open([sealWithNode(keys[0]!, text)]) ?? []

  second?.open(Array.from({ length: 300 }, () => sealWithNode(keys[1]!, randomBytes(300))))

  assert.ok(opened?.equals(text))
})

test('a key under which a thousand made-up messages came is not trusted, a hundredth of damage is', () => {
  const key = randomBytes(32)
  const [attacked, damaged] = [new BatchKey(key, workspace), new BatchKey(key, workspace)]
  const genuine = Array.from({ length: 100 }, () => sealWithNode(key, randomBytes(20)))
  const forged = { ...sealWithNode(key, Buffer.alloc(20)), sealed: randomBytes(36) }

  attacked.open(Array.from({ length: 999 }, () => forged))
  assert.ok(attacked.isTrusted)
  attacked.open([forged])
  for (let round = 0; round < 1_100; round++) damaged.open([forged, ...genuine])

  assert.ok(!attacked.isTrusted)
  assert.ok(damaged.isTrusted)
})
