// What senders should not send, and do: texts, numbers, bytes and JSON that other systems fell over.
import type { Random } from '../../scripts/demo/random.ts'

export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [name: string]: Json }

export const hostileTexts: readonly string[] = [
  '',
  ' ',
  '\t',
  '\u0000',
  'a\u0000b',
  '\ud800',
  'x\udfff\ud800y',
  '\ufeff',
  '\u202e\u2066',
  '\u200b',
  '\u{1f600}'.repeat(64),
  'é'.repeat(129),
  'e\u0301\u0327'.repeat(100),
  'A'.repeat(5_000),
  'null',
  'undefined',
  'NaN',
  '-Infinity',
  'true',
  '0',
  '-0',
  '1e999',
  '0x7fffffff',
  '2147483648',
  '99999999999999999999999',
  '1.5',
  '١٢٣',
  '__proto__',
  'constructor',
  'toString',
  "' OR 1=1 --",
  '"; DROP TABLE x; --',
  "\\' OR ''='",
  '{x:UInt8}',
  '${7*7}{{7*7}}',
  '%00',
  '%ff',
  '%2e%2e%2f',
  '../../../../etc/passwd',
  '..\\..\\boot.ini',
  '<script>alert(1)</script>',
  '=HYPERLINK("http://evil.example")',
  '\r\nset-cookie: a=b',
  'http://169.254.169.254/',
  'javascript:alert(1)',
  '//evil.example',
  'https://user:pass@evil.example/',
  '2026-02-30',
  '2026-13-01T25:61:61Z',
  '0000-00-00',
  '+275760-09-13T00:00:00.001Z',
  '-271821-04-19T23:59:59.999Z',
  '2026-03-02T10:00:00.000+99:99',
  'EUR\u0000',
  'eur',
  'XXX',
  'xx-XX-u-nu-thai',
  'de_DE@euro',
  '(((((((((((a)*)*)*)*)*)*)*)*)*)*)',
  '\u001b[31m\u0007',
]

export const hostileNumbers: readonly number[] = [
  0, -0, -1, 1, 0.1, 1.5, -1.5, 2_147_483_647, 2_147_483_648, -2_147_483_648, -2_147_483_649,
  4_294_967_296, 9_007_199_254_740_992, 1e21, 1e-7, 5e-324, 1.797_693_134_862_315_7e308, -1e308,
  999_999_999_999.99,
]

/** Spellings that no JSON of a program has, but a wire can carry. */
const numberSpellings = [
  '1e999',
  '-1e999',
  '1e-999',
  '01',
  '+1',
  '.5',
  '1.',
  '0x10',
  'NaN',
  'Infinity',
  '-',
  '9'.repeat(5_000),
  `0.${'0'.repeat(3_000)}1`,
  '1E+0000000000000000000000000000000002',
]

export function hostileValue(random: Random): Json {
  switch (random.between(0, 7)) {
    case 0:
    case 1:
      return random.pick(hostileTexts)
    case 2:
    case 3:
      return random.pick(hostileNumbers)
    case 4:
      return random.pick([null, true, false, [], {}, [[]], [null], { value: {} }])
    case 5:
      return Array.from({ length: random.between(0, 40) }, () => random.pick(hostileTexts))
    case 6:
      return nested(random.pick([2, 20, 200, 2_000]))
    default:
      return Object.fromEntries(
        hostileTexts.slice(0, random.between(0, 30)).map((key) => [key, key])
      )
  }
}

function nested(depth: number): Json {
  let value: Json = 1
  for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? [value] : { a: value }
  return value
}

/** One place of the value becomes another one: replaced, removed, doubled, renamed or wrapped. */
export function mutateJson(random: Random, value: Json): Json {
  if (value !== null && typeof value === 'object' && !random.chance(0.15)) {
    const entries = Object.entries(value)
    if (entries.length > 0) {
      const index = random.between(0, entries.length - 1)
      return Array.isArray(value)
        ? mutateItem(random, value, index)
        : mutateField(random, entries, index)
    }
  }
  return random.chance(0.1) ? [value] : hostileValue(random)
}

function mutateItem(random: Random, items: readonly Json[], index: number): Json {
  const copy = [...items]
  const item = copy[index] ?? null
  const fate = random.fraction()
  if (fate < 0.1) copy.splice(index, 1)
  else if (fate < 0.2) copy.splice(index, 0, ...Array.from({ length: 50 }, () => item))
  else copy[index] = mutateJson(random, item)
  return copy
}

function mutateField(random: Random, entries: readonly [string, Json][], index: number): Json {
  const copy = [...entries]
  const [name, item] = copy[index] ?? ['', null]
  const fate = random.fraction()
  if (fate < 0.15) copy.splice(index, 1)
  else if (fate < 0.3) copy[index] = [random.pick(hostileTexts), item]
  else copy[index] = [name, mutateJson(random, item)]
  return Object.fromEntries(copy)
}

/** The text of the JSON, spoilt as text: what no serializer would write. */
export function mutateJsonText(random: Random, text: string): string {
  switch (random.between(0, 9)) {
    case 0:
      return text.replace(/-?\d+(\.\d+)?/, random.pick(numberSpellings))
    case 1:
      return text.replace(/"(\w+)":([^,{}[\]]+)/, '"$1":$2,"$1":$2')
    case 2:
      return text.replace(/"(\w+)":([^,{}[\]]+)/, '"$1":$2,"\\u005f_proto__":{"x":1}')
    case 3:
      return text.replace(
        /:"[^"]*"/,
        random.pick([':"\\ud800"', ':"\\udc00\\ud800"', ':"\\u0000"'])
      )
    case 4:
      return text.slice(0, random.between(0, text.length))
    case 5:
      return text + random.pick([text, ',', '\u0000', ']', '//', '\n\n{'])
    case 6:
      return random.pick(['\ufeff', '\ufeff\ufeff', ")]}',\n", '\u0000', '// x\n']) + text
    case 7:
      return deepText(random)
    case 8:
      return text.replaceAll('"', random.pick(["'", '', '""', '\\"']))
    default:
      return ''
  }
}

function deepText(random: Random): string {
  const depth = random.pick([100, 8_000, 100_000])
  return random.pick([
    '['.repeat(depth),
    `${'['.repeat(depth)}1${']'.repeat(depth)}`,
    `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`,
    `{"user_id":${'['.repeat(depth)}${']'.repeat(depth)}}`,
  ])
}

/** Bits flipped, bytes cut out, put in or doubled. */
export function mutateBytes(random: Random, bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes)
  const at = random.between(0, Math.max(0, copy.length - 1))
  switch (random.between(0, 4)) {
    case 0:
      if (copy.length > 0) copy[at] = (copy[at] ?? 0) ^ (1 << random.between(0, 7))
      return copy
    case 1:
      return copy.subarray(0, at)
    case 2:
      return Buffer.concat([copy.subarray(0, at), hostileBytes(random), copy.subarray(at)])
    case 3:
      return Buffer.concat([copy, copy])
    default:
      return hostileBytes(random)
  }
}

export function hostileBytes(random: Random): Buffer {
  return random.pick([
    Buffer.from([0xff, 0xfe]),
    Buffer.from([0xc0, 0xaf]),
    Buffer.from([0xed, 0xa0, 0x80]),
    Buffer.from([0xf4, 0x90, 0x80, 0x80]),
    Buffer.from([0x00]),
    Buffer.from([0x80]),
    Buffer.from('{"a":1}', 'utf16le'),
    Buffer.from([0x1f, 0x8b, 0x08, 0x00]),
    Buffer.from(Array.from({ length: random.between(1, 300) }, () => random.between(0, 255))),
  ])
}

const base64Alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'.split('')

/** A token that no ad server issued. */
export function mutateToken(random: Random, token: string, other: string): string {
  const at = random.between(0, token.length - 1)
  switch (random.between(0, 8)) {
    case 0: {
      const bytes = Buffer.from(token, 'base64url')
      const index = random.between(0, bytes.length - 1)
      bytes[index] = (bytes[index] ?? 0) ^ (1 << random.between(0, 7))
      return bytes.toString('base64url')
    }
    case 1:
      return token.slice(0, at)
    case 2:
      return token.slice(0, at) + random.pick(base64Alphabet) + token.slice(at + 1)
    case 3:
      return token.slice(0, at) + other.slice(at)
    case 4:
      return token + random.pick(['=', '==', 'A', '%3D', '.', '%00', '&x=1', ';a', token])
    case 5:
      return (
        token.slice(0, at) + random.pick(['+', '%2B', '%2F', ' ', '%20', '%0a']) + token.slice(at)
      )
    case 6:
      return Buffer.from(token, 'base64url').toString(random.pick(['hex', 'base64']))
    case 7:
      return 'A'.repeat(random.pick([1, 4, 60, 4_096, 5_462, 20_000]))
    default:
      return encodeURIComponent(encodeURIComponent(random.pick(hostileTexts).toWellFormed()))
  }
}
