// What a port thinks of files that do not fit, at start and while it runs.
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { mkdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { openTls, tlsLimits } from '../../src/ops/tls.ts'
import { makeCertificate } from '../helpers/certificate.ts'
import { silentLog } from '../helpers/silent-log.ts'
import { makeFiles, startPort, writePair, type Files } from './tls-harness.ts'

const encrypted = generateKeyPairSync('ec', {
  namedCurve: 'P-256',
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'CANARY' },
}).privateKey
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const rsaKey = rsa.privateKey.export({ type: 'pkcs8', format: 'pem' })

const faults: readonly (readonly [
  name: string,
  spoil: (files: Files) => void,
  reasons: readonly RegExp[],
])[] = [
  [
    'no certificate',
    ({ certPath }) => rmSync(certPath),
    [/^SHELFTRACE_TLS_CERT .*readable.*ENOENT/],
  ],
  ['no key', ({ keyPath }) => rmSync(keyPath), [/^SHELFTRACE_TLS_KEY .*readable.*ENOENT/]],
  [
    'neither file',
    ({ certPath, keyPath }) => [certPath, keyPath].forEach((path) => rmSync(path)),
    [/^SHELFTRACE_TLS_CERT /, /^SHELFTRACE_TLS_KEY /],
  ],
  [
    'a folder in the place of the certificate',
    ({ certPath }) => {
      rmSync(certPath)
      mkdirSync(certPath)
    },
    [/^SHELFTRACE_TLS_CERT must name a file, not a folder/],
  ],
  [
    'a file without end',
    ({ certPath }) => truncateSync(certPath, tlsLimits.fileBytesMax + 1),
    [/^SHELFTRACE_TLS_CERT must name a file of at most 1 MiB/],
  ],
  [
    'an empty certificate',
    ({ certPath }) => truncateSync(certPath),
    [/^SHELFTRACE_TLS_CERT .*PEM/],
  ],
  [
    'half a certificate',
    ({ certPath }) => truncateSync(certPath, 300),
    [/^SHELFTRACE_TLS_CERT .*PEM/],
  ],
  ['an empty key', ({ keyPath }) => truncateSync(keyPath), [/^SHELFTRACE_TLS_KEY .*PEM/]],
  ['half a key', ({ keyPath }) => truncateSync(keyPath, 100), [/^SHELFTRACE_TLS_KEY .*PEM/]],
  [
    'a key with a passphrase',
    ({ keyPath }) => writeFileSync(keyPath, encrypted),
    [/^SHELFTRACE_TLS_KEY .*without a passphrase/],
  ],
  [
    'the key of another certificate',
    ({ keyPath }) => writeFileSync(keyPath, makeCertificate().key),
    [/^SHELFTRACE_TLS_KEY must be the key of the first certificate/],
  ],
  [
    'a key of another kind',
    ({ keyPath }) => writeFileSync(keyPath, rsaKey),
    [/^SHELFTRACE_TLS_KEY must be the key of the first certificate/],
  ],
  [
    'a broken chain behind the certificate',
    (files) => {
      const pair = makeCertificate()
      writePair(files, pair)
      writeFileSync(files.certPath, Buffer.concat([pair.cert, pair.cert.subarray(0, 300)]))
    },
    [/^SHELFTRACE_TLS_CERT and SHELFTRACE_TLS_KEY must be fit for TLS/],
  ],
]
for (const [name, spoil, reasons] of faults) {
  test(`${name}: the port goes on with the old pair and complains once, without a word of the files`, async (t) => {
    const port = await startPort(t)

    spoil(port.files)
    await port.look()
    await port.look()
    await port.look()

    assert.equal(await port.shown(), port.first.fingerprint)
    const complaints = port.logged('error')
    assert.equal(complaints.length, 1)
    const told: unknown = complaints[0]?.fields['reasons']
    assert.ok(Array.isArray(told) && told.length === reasons.length)
    reasons.forEach((reason, index) => assert.match(String(told[index]), reason))
    assert.doesNotMatch(JSON.stringify(complaints), /BEGIN|PRIVATE|CANARY/)
  })

  test(`${name}: a start ends with an error that names the variable`, async (t) => {
    const files = makeFiles(t, makeCertificate())
    spoil(files)

    const opening = openTls({ files, log: silentLog, clock: Date.now })

    await assert.rejects(opening, (error: Error) => {
      assert.equal(Reflect.get(error, 'code'), 'CONFIG_INVALID')
      assert.doesNotMatch(error.message, /BEGIN|PRIVATE|CANARY/)
      return reasons.every((reason) =>
        new RegExp(reason.source, 'mu').test(unindent(error.message))
      )
    })
  })
}

function unindent(text: string): string {
  return text.replaceAll(/^ +/gmu, '')
}
