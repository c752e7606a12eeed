// Self-signed certificates made in the test: Node reads certificates but makes none, and a program
// beside it may be missing. The shape is that of RFC 5280, as little of it as clients ask for.
import { generateKeyPairSync, randomBytes, sign, X509Certificate } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

export interface CertificatePair {
  readonly cert: Buffer
  readonly key: Buffer
  readonly fingerprint: string
}

export interface CertificateOptions {
  readonly validFromMs?: number
  readonly expiresAtMs?: number
}

const dayMs = 86_400_000

/** For `localhost` and 127.0.0.1, on the curve P-256, valid for 90 days unless told otherwise. */
export function makeCertificate(options: CertificateOptions = {}): CertificatePair {
  const { validFromMs = Date.now() - dayMs, expiresAtMs = Date.now() + 90 * dayMs } = options
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const name = sequence(set(sequence(identifier('550403'), utf8('localhost'))))
  const toSign = sequence(
    tagged(0xa0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    ecdsaWithSha256,
    name,
    sequence(time(validFromMs), time(expiresAtMs)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(0xa3, sequence(subjectNames))
  )
  const signature = bits(sign('sha256', toSign, privateKey))
  const cert = pem(sequence(toSign, ecdsaWithSha256, signature))
  const key = Buffer.from(privateKey.export({ type: 'pkcs8', format: 'pem' }))
  return { cert, key, fingerprint: new X509Certificate(cert).fingerprint256 }
}

/** Writes the pair into files, and names them as a service is told. */
export function writeCertificate(
  folder: string,
  { cert, key }: Pick<CertificatePair, 'cert' | 'key'>
): Readonly<Record<string, string>> {
  const [certPath, keyPath] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
  writeFileSync(certPath, cert)
  writeFileSync(keyPath, key)
  return { SHELFTRACE_TLS_CERT: certPath, SHELFTRACE_TLS_KEY: keyPath }
}

/** DER: the kind, the length, the content. */
function tagged(kind: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  const { length } = content
  const head = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : longLength(length)
  return Buffer.concat([Buffer.from([kind, ...head]), content])
}

function longLength(length: number): readonly number[] {
  return [0x82, length >> 8, length & 0xff]
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return tagged(0x30, ...parts)
}

function set(...parts: readonly Buffer[]): Buffer {
  return tagged(0x31, ...parts)
}

function integer(bytes: Buffer): Buffer {
  return tagged(0x02, bytes)
}

function identifier(hex: string): Buffer {
  return tagged(0x06, Buffer.from(hex, 'hex'))
}

function utf8(text: string): Buffer {
  return tagged(0x0c, Buffer.from(text))
}

function bits(content: Buffer): Buffer {
  return tagged(0x03, Buffer.from([0]), content)
}

/** GeneralizedTime, which is valid in every year. */
function time(ms: number): Buffer {
  const text = new Date(ms).toISOString().replaceAll(/[-:T]|\.\d+/gu, '')
  return tagged(0x18, Buffer.from(text))
}

function pem(der: Buffer): Buffer {
  const lines = der
    .toString('base64')
    .match(/.{1,64}/gu)
    ?.join('\n')
  return Buffer.from(`-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`)
}

const ecdsaWithSha256 = sequence(identifier('2a8648ce3d040302'))

/** The extension subjectAltName: `localhost` and 127.0.0.1. */
const subjectNames = sequence(
  identifier('551d11'),
  tagged(
    0x04,
    sequence(tagged(0x82, Buffer.from('localhost')), tagged(0x87, Buffer.from([127, 0, 0, 1])))
  )
)
