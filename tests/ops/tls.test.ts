import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdirSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeCertificate, type CertificatePair } from '../helpers/certificate.ts'
import { eventually } from '../helpers/service.ts'
import { askHealth, makeFiles, startPort, writePair, type Files } from './tls-harness.ts'

const dayMs = 86_400_000

test('a renewed pair is shown to new connections, and open ones go on', async (t) => {
  const port = await startPort(t)
  const open = await port.connect()
  assert.match(await askHealth(open), /^HTTP\/1\.1 200 /)
  const next = makeCertificate()

  writePair(port.files, next)
  await port.look()

  assert.equal(await port.shown(), next.fingerprint)
  assert.match(await askHealth(open), /^HTTP\/1\.1 200 /)
  assert.equal(open.getPeerCertificate().fingerprint256, port.first.fingerprint)
})

test('a client that resumes its session from before the renewal gets in', async (t) => {
  const port = await startPort(t)
  const before = await port.connect()
  const ticket = once(before, 'session')
  await askHealth(before)
  const [session]: Buffer[] = await ticket

  writePair(port.files, makeCertificate())
  await port.look()

  const after = await port.connect(session)
  assert.match(await askHealth(after), /^HTTP\/1\.1 200 /)
})

test('what is taken is told with its fingerprint and its dates, at start and at each renewal', async (t) => {
  const port = await startPort(t)
  const next = makeCertificate({ expiresAtMs: Date.UTC(2055, 0, 1) })

  writePair(port.files, next)
  await port.look()
  await port.look()

  const told = port.logged('info').map(({ fields }) => fields['fingerprint'])
  assert.deepEqual(told, [port.first.fingerprint, next.fingerprint])
  assert.deepEqual(port.logged('info')[1]?.fields['expiresAt'], new Date('2055-01-01T00:00:00Z'))
})

/** Each puts a pair in the place of the one before, as some tool does. */
const renewals: readonly (readonly [
  name: string,
  files: (t: Parameters<typeof makeFiles>[0], pair: CertificatePair) => Files,
  renew: (files: Files, pair: CertificatePair) => void,
])[] = [
  ['rewrites both in place', makeFiles, writePair],
  [
    'renames new files over them',
    makeFiles,
    (files, pair) => {
      writeFileSync(join(files.folder, 'new-key'), pair.key)
      writeFileSync(join(files.folder, 'new-cert'), pair.cert)
      renameSync(join(files.folder, 'new-key'), files.keyPath)
      renameSync(join(files.folder, 'new-cert'), files.certPath)
    },
  ],
  [
    'turns the link of each file',
    (t, pair) => linkedFiles(makeFiles(t, pair)),
    (files, pair) => {
      for (const name of ['cert', 'key'] as const) {
        writeFileSync(join(files.folder, `${name}2.pem`), pair[name])
        const link = name === 'cert' ? files.certPath : files.keyPath
        unlinkSync(link)
        symlinkSync(`${name}2.pem`, link)
      }
    },
  ],
  [
    'turns the link of their folder',
    (t, pair) => folderLink(makeFiles(t, pair)),
    (files, pair) => {
      const folder = join(files.folder, '..2')
      mkdirSync(folder)
      writeFileSync(join(folder, 'cert.pem'), pair.cert)
      writeFileSync(join(folder, 'key.pem'), pair.key)
      symlinkSync('..2', join(files.folder, '..data_tmp'))
      renameSync(join(files.folder, '..data_tmp'), join(files.folder, '..data'))
    },
  ],
]
for (const [name, files, renew] of renewals) {
  test(`a renewal that ${name} is taken`, async (t) => {
    const port = await startPort(t, { files })
    const next = makeCertificate()

    renew(port.files, next)
    await port.look()

    assert.equal(await port.shown(), next.fingerprint)
    assert.deepEqual(port.logged('error'), [])
  })
}

function linkedFiles(files: Files): Files {
  const links = {
    certPath: join(files.folder, 'live-cert'),
    keyPath: join(files.folder, 'live-key'),
  }
  symlinkSync('cert.pem', links.certPath)
  symlinkSync('key.pem', links.keyPath)
  return { ...files, ...links }
}

/** As Kubernetes mounts a secret: files are links into a folder that is a link itself. */
function folderLink(files: Files): Files {
  mkdirSync(join(files.folder, '..1'))
  for (const path of ['cert.pem', 'key.pem']) {
    renameSync(join(files.folder, path), join(files.folder, '..1', path))
    symlinkSync(join('..data', path), join(files.folder, path))
  }
  symlinkSync('..1', join(files.folder, '..data'))
  return files
}

test('between the new certificate and its key nothing is taken and nothing is told', async (t) => {
  const port = await startPort(t)
  const next = makeCertificate()

  writeFileSync(port.files.certPath, next.cert)
  await port.tls.check()
  assert.equal(await port.shown(), port.first.fingerprint)
  writeFileSync(port.files.keyPath, next.key)
  await port.look()

  assert.equal(await port.shown(), next.fingerprint)
  assert.deepEqual(port.logged('error'), [])
})

test('a chain that is only half written when it is seen is not taken', async (t) => {
  const port = await startPort(t)
  const next = makeCertificate()
  const chain = Buffer.concat([next.cert, makeCertificate().cert])

  writePair(port.files, next)
  await port.tls.check()
  writeFileSync(port.files.certPath, chain)
  await port.tls.check()
  assert.equal(await port.shown(), port.first.fingerprint)
  await port.tls.check()

  assert.equal(await port.shown(), next.fingerprint)
  assert.deepEqual(port.tls.current.cert, chain)
})

test('every new fault is told, also one that comes back after it was mended', async (t) => {
  const port = await startPort(t)
  const { keyPath } = port.files

  writeFileSync(keyPath, 'no key')
  await port.look()
  rmSync(keyPath)
  await port.look()
  writeFileSync(keyPath, port.first.key)
  await port.look()
  rmSync(keyPath)
  await port.look()

  assert.equal(port.logged('error').length, 3)
  assert.equal(await port.shown(), port.first.fingerprint)
})

test('a certificate that ends within 14 days is warned of at start and daily, not more, until it is renewed', async (t) => {
  const nowMs = Date.now()
  const expiresAtMs = nowMs + 15 * dayMs
  const port = await startPort(t, { first: makeCertificate({ expiresAtMs }), nowMs })
  assert.deepEqual(port.logged('warn'), [])

  for (const days of [0.5, 1.5, 1.6, 2.4, 2.6, 3.6]) {
    port.at.ms = nowMs + days * dayMs
    await port.look()
  }
  assert.equal(port.logged('warn').length, 3)
  assert.equal(port.logged('warn')[0]?.message, 'the certificate expires soon')

  writePair(port.files, makeCertificate())
  await port.look()
  port.at.ms += 2 * dayMs
  await port.look()
  assert.equal(port.logged('warn').length, 3)
})

const untimely: readonly (readonly [string, number, number, string, string])[] = [
  ['ends in 13 days', -1, 13, 'warn', 'the certificate expires soon'],
  ['ended yesterday', -9, -1, 'error', 'the certificate has expired'],
  ['begins tomorrow', 1, 90, 'warn', 'the certificate is not valid yet'],
]
for (const [name, fromDays, toDays, level, message] of untimely) {
  test(`a certificate that ${name} is served and told of at once`, async (t) => {
    const nowMs = Date.now()
    const first = makeCertificate({
      validFromMs: nowMs + fromDays * dayMs,
      expiresAtMs: nowMs + toDays * dayMs,
    })
    const port = await startPort(t, { first, nowMs })

    assert.equal(await port.shown(), first.fingerprint)
    assert.deepEqual(
      port.logged(level).map((line) => line.message),
      [message]
    )
  })
}

test('a watched pair is renewed without a word to it, and no longer once it is closed', async (t) => {
  const port = await startPort(t, { pollMs: 1 })
  port.tls.watch()
  const next = makeCertificate()

  writePair(port.files, next)
  await eventually('the new pair is shown', async () => (await port.shown()) === next.fingerprint)
  await port.tls.close()
  writePair(port.files, makeCertificate())

  assert.equal(await port.shown(), next.fingerprint)
})
