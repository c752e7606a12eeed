/** Makes docs/tracking-data-vectors.json: `node --import tsx tests/tracking-data/build-vectors.ts`. */
import { writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { encodeEnvelope, encodeHeader } from '../../src/tracking-data/envelope.ts'
import { encodePayload } from '../../src/tracking-data/payload.ts'
import {
  createMinter,
  createOpener,
  formatKeyRing,
  type OpenRefusal,
  parseKeyRing,
  type ServedAd,
  type TrackingData,
} from '../../src/tracking-data/tracking-data.ts'
import { createXaes } from '../../src/tracking-data/xaes-256-gcm.ts'
import { anAd, createTestRandom, toHex } from './builders.ts'

export const vectorsFile = new URL('../../docs/tracking-data-vectors.json', import.meta.url)

type Ring = ReturnType<typeof parseKeyRing>

// Secrets of vectors are public by nature, so they are patterns that nobody takes for real ones.
const ring = parseKeyRing({
  active: '0000000a',
  keys: [
    { id: '0000000a', key: Buffer.alloc(32, 0x01).toString('base64') },
    { id: 'c0ffee02', key: Buffer.alloc(32, 0x03).toString('base64'), publishers: [10, 20] },
  ],
})

/** Bigints as text, because JSON numbers are doubles to most readers. */
export function toJsonValue(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? String(part) : part))
  )
}

function aVector(name: string, { ad, keyRing = ring }: { ad: ServedAd; keyRing?: Ring }) {
  const { trackingData } = createMinter(keyRing, { random: createTestRandom(name) }).mint(ad)
  const bytes = Buffer.from(trackingData, 'base64url')
  const opened = createOpener(keyRing).open(trackingData)
  if (!opened.ok) throw new Error(`the vector "${name}" does not open: ${opened.reason}`)
  const { key } = keyFor(keyRing)
  return {
    name,
    keyId: keyRing.active,
    key: key.export().toString('hex'),
    nonce: bytes.toString('hex', 5, 29),
    additionalData: bytes.toString('hex', 0, 5),
    plaintext: toHex(encodePayload(opened.data)),
    token: trackingData,
    data: opened.data,
  }
}

function keyFor(keyRing: Ring) {
  const key = keyRing.keys.find(({ id }) => id === keyRing.active)
  if (key === undefined) throw new Error('the ring has no active key')
  return key
}

/** Properly sealed, whatever the payload: what a faulty ad server would send. */
function aSealedToken(plaintext: Uint8Array, keyRing: Ring = ring): string {
  const { id, key } = keyFor(keyRing)
  const header = encodeHeader(Number.parseInt(id, 16))
  const nonce = Buffer.from(createTestRandom('sealed')(24))
  const sealed = createXaes(key).seal(plaintext, { nonce, additionalData: header })
  return encodeEnvelope({ header, nonce, sealed })
}

function refusals(data: TrackingData, token: string) {
  const bytes = Buffer.from(token, 'base64url')
  const altered = (at: number, byte: number) => {
    const copy = Buffer.from(bytes)
    copy[at] = byte
    return copy.toString('base64url')
  }
  const cutTag = (tagBytes: number) =>
    bytes.subarray(0, bytes.length - 16 + tagBytes).toString('base64url')
  const sealedWith = (changes: Partial<TrackingData>) =>
    aSealedToken(encodePayload({ ...data, ...changes }))
  const bound = { ...ring, active: 'c0ffee02' }
  const rows: readonly (readonly [OpenRefusal, string, string])[] = [
    ['too-short', 'empty', ''],
    ['too-short', 'no room for header, nonce and tag', 'A'.repeat(56)],
    ['too-long', 'eight thousand letters', 'A'.repeat(8_192)],
    ['not-base64url', 'percent escape left in', token.replace(/^./, '%41')],
    ['not-base64url', 'one padding character too many', `${token}===`],
    ['not-base64url', 'a line end behind', `${token}\n`],
    ['not-base64url', 'bits behind the last byte', withSpareBits(token)],
    ['not-base64url', 'both alphabets mixed', token.replace('-', '+')],
    ['unknown-version', 'version 2', altered(0, 2)],
    ['unknown-key', 'key id 0100000a', altered(1, 1)],
    ['not-authentic', 'key id of another key of the ring', swapKeyId(bytes)],
    ['not-authentic', 'last bit of the tag flipped', altered(bytes.length - 1, flip(bytes))],
    ...[15, 12, 8, 4, 0].map((n) => ['not-authentic', `tag cut to ${n} bytes`, cutTag(n)] as const),
    ['malformed', 'payload is no protobuf message', aSealedToken(Buffer.from('ffff', 'hex'))],
    ['malformed', 'user_id is not UTF-8', aSealedToken(Buffer.from('5a01ff', 'hex'))],
    ['malformed', 'publisher_id is packed', aSealedToken(Buffer.from('1a010a', 'hex'))],
    [
      'foreign-publisher',
      'publisher 30 under a key for 10 and 20',
      aSealedToken(encodePayload({ ...data, publisherId: 30 }), bound),
    ],
    ['invalid', 'empty payload', aSealedToken(Buffer.alloc(0))],
    ['invalid', 'publisher_id 0', sealedWith({ publisherId: 0 })],
    ['invalid', 'negative cost', sealedWith({ costPerClickMicros: -1n })],
    ['invalid', 'served in 2019', sealedWith({ servedAtMs: Date.UTC(2019, 11, 31) })],
    [
      'invalid',
      'landing page with credentials',
      sealedWith({ landingUrl: 'https://a:b@c.example/' }),
    ],
    ['invalid', 'landing page that is a script', sealedWith({ landingUrl: 'javascript:alert(1)' })],
  ]
  return rows.map(([reason, name, text]) => ({ name, token: text, reason }))
}

function flip(bytes: Buffer): number {
  return bytes.readUInt8(bytes.length - 1) ^ 1
}

function swapKeyId(bytes: Buffer): string {
  const copy = Buffer.from(bytes)
  copy.write('c0ffee02', 1, 'hex')
  return copy.toString('base64url')
}

function withSpareBits(token: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  return token.slice(0, -1) + alphabet.charAt(alphabet.indexOf(token.slice(-1)) + 1)
}

export function buildVectors(): unknown {
  const full = aVector('every field', { ad: anAd({ userId: 'user-12' }) })
  const bare = anAd({ groupId: '', userLoggedInId: '', landingUrl: '', userId: '' })
  const accepted = [
    full,
    aVector('empty text and costs of zero', {
      ad: { ...bare, costPerClickMicros: 0n, costPerMilleMicros: 0n },
    }),
    aVector('text beyond ASCII', { ad: anAd({ gtin: 'Käse-1', userId: '\u{1F600}ü\uFEFF' }) }),
    aVector('largest ids and costs', {
      ad: anAd({ adGroupId: 2_147_483_647, costPerClickMicros: 10n ** 12n }),
    }),
    aVector('a key bound to publishers', {
      ad: anAd({ publisherId: 20 }),
      keyRing: { ...ring, active: 'c0ffee02' },
    }),
  ]
  const bytes = Buffer.from(full.token, 'base64url')
  return toJsonValue({
    keyRing: JSON.parse(formatKeyRing(ring)) as unknown,
    accepted,
    spellings: {
      canonical: full.token,
      alsoAccepted: [
        full.token + '='.repeat((3 - (bytes.length % 3)) % 3),
        bytes.toString('base64'),
        bytes.toString('base64').replaceAll('=', ''),
      ],
    },
    refused: refusals(full.data, full.token),
  })
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  writeFileSync(vectorsFile, `${JSON.stringify(buildVectors(), undefined, 2)}\n`)
}
