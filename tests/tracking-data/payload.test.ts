import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { create, fromBinary, ScalarType, toBinary } from '@bufbuild/protobuf'
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import * as fc from 'fast-check'
import { TrackingDataSchema } from '../../src/tracking-data/generated/tracking-data_pb.ts'
import { decodePayload } from '../../src/tracking-data/payload-reader.ts'
import { encodePayload, type TrackingData } from '../../src/tracking-data/payload.ts'
import { toHex, validData } from './builders.ts'

const protoFile = new URL('../../proto/tracking-data.proto', import.meta.url)

/** What the generic library makes of the bytes; undefined where it throws or our types end. */
function decodeByLibrary(bytes: Uint8Array): TrackingData | undefined {
  try {
    const {
      $typeName: _name,
      $unknown: _unknown,
      ...message
    } = fromBinary(TrackingDataSchema, bytes)
    const servedAtMs = Number(message.servedAtMs)
    const isOurs = Number.isSafeInteger(servedAtMs) && [0, 16].includes(message.servedAdId.length)
    return isOurs ? { ...message, servedAtMs, servedAdId: toHex(message.servedAdId) } : undefined
  } catch {
    // A refusal is what the comparison asks for, whatever the library calls it.
    return undefined
  }
}

const anyInt32 = fc.integer({ min: -2_147_483_648, max: 2_147_483_647 })
const anyInt64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
const anyText = fc.string({ unit: 'binary', maxLength: 40 })

/** Messages far beyond what the rules allow: the reader must agree on those too. */
const anyMessage = fc
  .record({
    servedAdId: fc.uint8Array({ minLength: 16, maxLength: 16 }),
    servedAtMs: fc.bigInt({ min: -(2n ** 53n) + 1n, max: 2n ** 53n - 1n }),
    publisherId: anyInt32,
    siteId: anyInt32,
    marketId: anyInt32,
    advertiserId: anyInt32,
    campaignId: anyInt32,
    adGroupId: anyInt32,
    gtin: anyText,
    groupId: anyText,
    userId: anyText,
    userLoggedInId: anyText,
    currency: anyText,
    costPerClickMicros: anyInt64,
    costPerMilleMicros: anyInt64,
    landingUrl: anyText,
  })
  .map((init) => Buffer.from(toBinary(TrackingDataSchema, create(TrackingDataSchema, init))))

const skippable = [
  WireType.Varint,
  WireType.Bit64,
  WireType.LengthDelimited,
  WireType.Bit32,
] as const

const anyUnknownField = fc
  .tuple(
    fc.integer({ min: 17, max: 536_870_911 }),
    fc.constantFrom(...skippable),
    fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })
  )
  .map(([field, wireType, value]) => {
    const writer = new BinaryWriter().tag(field, wireType)
    if (wireType === WireType.Varint) writer.uint64(value)
    else if (wireType === WireType.Bit64) writer.fixed64(value)
    else if (wireType === WireType.Bit32) writer.fixed32(Number(value & 0xffff_ffffn))
    else writer.bytes(Buffer.alloc(Number(value % 300n), 0xff))
    return Buffer.from(writer.finish())
  })

function isRefused(write: (writer: BinaryWriter) => BinaryWriter): boolean {
  return decodePayload(Buffer.from(write(new BinaryWriter()).finish())) === undefined
}

test('the descriptor in use says field by field what the .proto file says', () => {
  const source = readFileSync(protoFile, 'utf8').replaceAll(/\/\/.*$/gm, '')
  const declared = [...source.matchAll(/^\s*(\w+) (\w+) = (\d+);$/gm)].map(
    ([, type, name, number]) => `${type} ${name} = ${number}`
  )
  const inUse = TrackingDataSchema.fields.map((field) => {
    assert.equal(field.fieldKind, 'scalar')
    return `${ScalarType[field.scalar].toLowerCase()} ${field.name} = ${field.number}`
  })

  assert.match(source, /^syntax = "proto3";/m)
  assert.match(source, /^package shelftrace\.v1;/m)
  assert.match(source, /^message TrackingData \{/m)
  assert.equal(TrackingDataSchema.typeName, 'shelftrace.v1.TrackingData')
  assert.equal(declared.length, 16)
  assert.deepEqual(inUse, declared)
})

test('reading what was written gives the same ad', () => {
  fc.assert(
    fc.property(validData, (data) => {
      assert.deepEqual(decodePayload(Buffer.from(encodePayload(data))), data)
    })
  )
})

test('the reader and the generic library read the same message alike', () => {
  fc.assert(
    fc.property(anyMessage, (bytes) => {
      const data = decodePayload(bytes)

      assert.notEqual(data, undefined)
      assert.deepEqual(data, decodeByLibrary(bytes))
    }),
    { numRuns: 500 }
  )
})

test('fields of later versions are stepped over wherever they stand', () => {
  fc.assert(
    fc.property(anyMessage, anyUnknownField, anyUnknownField, (message, before, after) => {
      const data = decodePayload(Buffer.concat([before, message, after]))

      assert.deepEqual(data, decodePayload(message))
      assert.deepEqual(data, decodeByLibrary(Buffer.concat([before, message, after])))
    }),
    { numRuns: 500 }
  )
})

test('of a field that comes twice the last one counts', () => {
  fc.assert(
    fc.property(anyMessage, anyMessage, (first, second) => {
      const both = Buffer.concat([first, second])
      const data = decodePayload(both)

      assert.notEqual(data, undefined)
      assert.deepEqual(data, decodeByLibrary(both))
    })
  )
})

test('whatever bytes the reader accepts, the generic library reads alike', () => {
  const damage = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 })
  fc.assert(
    fc.property(anyMessage, damage, fc.nat(), (message, changes, cut) => {
      const bytes = Buffer.from(message)
      for (const [at, byte] of changes) bytes[at % bytes.length] = byte
      const damaged = bytes.subarray(0, bytes.length - (cut % 8))

      const data = decodePayload(damaged)

      if (data !== undefined) assert.deepEqual(data, decodeByLibrary(damaged))
    }),
    { numRuns: 3_000 }
  )
})

test('a message cut anywhere inside a field is refused', () => {
  const whole = new BinaryWriter()
    .tag(9, WireType.LengthDelimited)
    .string('4006381333931')
    .tag(3, WireType.Varint)
    .int32(2_000_000)
    .finish()

  for (let length = 1; length < whole.length; length++) {
    if (length === 15) continue // Between the two fields it is a shorter, whole message.
    assert.equal(decodePayload(Buffer.from(whole.subarray(0, length))), undefined, `${length}`)
  }
})

test('a known field of another wire type is refused, packed numbers included', () => {
  for (const field of TrackingDataSchema.fields) {
    for (const wireType of skippable) {
      const isText = field.scalar === ScalarType.STRING || field.scalar === ScalarType.BYTES
      if (wireType === (isText ? WireType.LengthDelimited : WireType.Varint)) continue
      const write = (writer: BinaryWriter) =>
        writer.tag(field.number, wireType).raw(Buffer.from([4, 1, 2, 3, 4, 5, 6, 7, 8]))
      assert.ok(isRefused(write), `field ${field.number}, wire type ${wireType}`)
    }
  }
})

test('groups, reserved wire types and field number zero are refused', () => {
  for (const wireType of [3, 4, 6, 7]) {
    const tag = (40 << 3) | wireType
    assert.ok(
      isRefused((writer) => writer.uint32(tag).uint32((40 << 3) | 4)),
      `${wireType}`
    )
  }
  assert.ok(isRefused((writer) => writer.uint32(0).uint32(0)))
})

test('text that is not UTF-8 is refused, and a real U+FFFD or byte order mark is kept', () => {
  for (const hex of ['ff', 'c0af', 'eda080', 'e282', 'f4908080', 'efbfbdff']) {
    const bytes = Buffer.from(hex, 'hex')
    assert.ok(
      isRefused((writer) => writer.tag(11, WireType.LengthDelimited).bytes(bytes)),
      hex
    )
  }
  const kept = '\uFEFFa\uFFFDb'
  const message = new BinaryWriter().tag(11, WireType.LengthDelimited).string(kept).finish()
  assert.equal(decodePayload(Buffer.from(message))?.userId, kept)
})

function varint(hex: string) {
  return (writer: BinaryWriter) => writer.tag(14, WireType.Varint).raw(Buffer.from(hex, 'hex'))
}

test('varints and tags beyond their width are refused', () => {
  assert.ok(!isRefused(varint('ffffffffffffffffff01')))
  assert.ok(isRefused(varint('ffffffffffffffffff02')))
  assert.ok(isRefused(varint('ffffffffffffffffffff01')))
  assert.ok(isRefused((writer) => writer.raw(Buffer.from('98808080808000', 'hex')).uint32(1)))
  assert.ok(isRefused((writer) => writer.raw(Buffer.from('9880808080', 'hex')).uint32(1)))
})

test('a length beyond the message is refused, however large', () => {
  for (const length of ['02', 'ffffffff0f', 'ffffffffffffffffff01']) {
    const bytes = Buffer.from(`4a${length}61`, 'hex')
    assert.equal(decodePayload(bytes), undefined, length)
  }
})

test('an ad id of other than 16 bytes and an instant beyond exact numbers are refused', () => {
  for (const length of [0, 15, 17]) {
    const write = (writer: BinaryWriter) =>
      writer.tag(1, WireType.LengthDelimited).bytes(Buffer.alloc(length))
    assert.ok(isRefused(write), `${length} bytes`)
  }
  assert.ok(isRefused((writer) => writer.tag(2, WireType.Varint).int64(2n ** 53n)))
  assert.ok(!isRefused((writer) => writer.tag(2, WireType.Varint).int64(2n ** 53n - 1n)))
})
