// What keeps a release back. The script runs these checks on the repository; here they meet what they must refuse.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test, type TestContext } from 'node:test'
import {
  changelogFaults,
  gitFaults,
  licenceFaults,
  sbomFaults,
  versionFaults,
  type Sbom,
} from '../../scripts/release/checks.ts'
import { readCommit } from '../../scripts/release/commit.ts'
import { packedFilesFaults, secretFaults } from '../../scripts/release/packed-files.ts'
import {
  libraryFolders,
  publishedManifest,
  readLock,
  readManifest,
  publishedLock,
} from '../../scripts/release/packages.ts'
import { clientVersion } from '../../src/client/caller.ts'

test('a package, or the client, of another version than the service is refused', () => {
  const manifests = ['shelftrace', '@shelftrace/client'].map((name) => ({ name, version: '1.0.0' }))

  assert.deepEqual(versionFaults(manifests, '1.0.0'), [])
  assert.deepEqual(versionFaults(manifests, '0.9.0'), [
    'clientVersion in src/client/caller.ts is 0.9.0, and shelftrace is 1.0.0',
  ])
  assert.deepEqual(
    versionFaults([...manifests, { name: '@shelftrace/tracking-data', version: '1.0.1' }], '1.0.0'),
    ['@shelftrace/tracking-data is 1.0.1, and shelftrace is 1.0.0']
  )
})

test('the packages of this source have one version', () => {
  const manifests = ['.', ...libraryFolders].map(readManifest)

  assert.deepEqual(versionFaults(manifests, clientVersion), [])
})

const changelog = `# Changelog

## [Unreleased]

## [1.0.0] - 2026-11-29

### Upgrade notes

- Nothing to do.

## [0.9.0] - 2026-10-01
`
const changelogs: readonly (readonly [what: string, text: string, faults: readonly RegExp[]])[] = [
  ['with all', changelog, []],
  ['without [Unreleased]', changelog.replace('## [Unreleased]\n', ''), []],
  ['with entries that wait', changelog.replace('d]\n', 'd]\n\n- A change.\n'), [/has entries/]],
  ['without the version', changelog.replace('[1.0.0]', '[1.0.1]'), [/no section ## \[1\.0\.0\]/]],
  ['that says "unreleased"', changelog.replace('2026-11-29', 'unreleased'), [/needs its date/]],
  ['with a day that is none', changelog.replace('11-29', '02-30'), [/needs its date/]],
  ['without upgrade notes', changelog.replace('### Upgrade notes', '### Added'), [/Upgrade notes/]],
  ['with an empty section', changelog.replace('- Nothing to do.', ''), [/is empty/]],
]
for (const [what, text, expected] of changelogs) {
  test(`a changelog ${what} has ${expected.length} faults`, () => {
    const faults = changelogFaults(text, '1.0.0')

    assert.equal(faults.length, expected.length, faults.join())
    for (const [index, pattern] of expected.entries()) assert.match(faults[index] ?? '', pattern)
  })
}

function lockOf(packages: Readonly<Record<string, { license?: string; version?: string }>>) {
  const root = { name: 'shelftrace', version: '1.0.0' }
  return { ...root, lockfileVersion: 3, packages: { '': {}, ...packages } }
}

test('a licence that nobody has read is refused, and so is one part of an expression', () => {
  const lock = lockOf({
    'node_modules/a': { license: 'MIT' },
    'node_modules/b': { license: '(Apache-2.0 AND BSD-3-Clause)' },
    'node_modules/c': { license: 'GPL-3.0-only' },
    'node_modules/d': { license: '(MIT OR SSPL-1.0)' },
    'node_modules/e': {},
  })

  const faults = licenceFaults(lock)

  assert.deepEqual(
    faults.map((fault) => fault.split(' ')[0]),
    ['node_modules/c', 'node_modules/d', 'node_modules/e']
  )
})

test('all licences of what is installed with the service are allowed', () => {
  assert.deepEqual(licenceFaults(publishedLock(readManifest('.'), readLock('.'))), [])
})

test('the published lock has what the service needs and nothing that only its source needs', () => {
  const { packages } = publishedLock(readManifest('.'), readLock('.'))

  const paths = Object.keys(packages)
  assert.ok(paths.includes('node_modules/fastify') && paths.includes('node_modules/chdb'))
  assert.ok(!paths.some((path) => /@shelftrace|packages\/|typescript|vite|playwright/u.test(path)))
})

test('the published manifest has no scripts, no development packages and no workspaces', () => {
  const published = publishedManifest(readManifest('.'))

  const names = ['scripts', 'devDependencies', 'workspaces', 'private', 'overrides']
  assert.deepEqual(
    names.filter((name) => name in published),
    []
  )
  assert.ok('bin' in published && 'exports' in published && 'allowScripts' in published)
})

const licenses = [{ license: { id: 'MIT' } }]
const component = {
  'bom-ref': 'a@1',
  name: 'a',
  version: '1.0.0',
  purl: 'pkg:npm/a@1.0.0',
  licenses,
}
const subject = { 'bom-ref': 's', name: 'shelftrace', version: '1.0.0' }
const sbom: Sbom = {
  bomFormat: 'CycloneDX',
  specVersion: '1.5',
  serialNumber: 'urn:uuid:3e671687-395b-41f5-a30f-a58921a69b79',
  metadata: { component: { ...subject, purl: 'pkg:npm/shelftrace@1.0.0' } },
  components: [component],
  dependencies: [{ ref: 's', dependsOn: ['a@1'] }],
}
const sboms: readonly (readonly [what: string, changed: Partial<Sbom>, fault: RegExp | null])[] = [
  ['that is whole', {}, null],
  ['of another form', { bomFormat: 'SPDX' }, /not CycloneDX/],
  ['of an old form', { specVersion: '1.2' }, /not CycloneDX/],
  ['without a number', { serialNumber: 'urn:uuid:1' }, /no serial number/],
  [
    'of something else',
    { metadata: { component: { purl: 'pkg:npm/x@1.0.0' } } },
    /is not of shelf/,
  ],
  ['that lacks a package', { components: [], dependencies: [] }, /lacks a@1\.0\.0/],
  [
    'with a package that we lack',
    { components: [component, { ...component, name: 'b' }] },
    /has b@/,
  ],
  ['without a licence', { components: [{ ...component, licenses: [] }] }, /no licence of a/],
  ['that refers to nothing', { dependencies: [{ ref: 'a@1', dependsOn: ['z'] }] }, /refers to z/],
]
for (const [what, changed, expected] of sboms) {
  test(`an SBOM ${what} is ${expected === null ? 'taken' : 'refused'}`, () => {
    const faults = sbomFaults({ ...sbom, ...changed }, lockOf({ 'node_modules/a': component }))

    if (expected === null) assert.deepEqual(faults, [])
    else assert.match(faults.join('\n'), expected)
  })
}

function repository(t: TestContext): {
  readonly folder: string
  readonly run: (...args: string[]) => void
} {
  const folder = folderWith(t, { 'a.txt': 'a' })
  const who = ['-c', 'user.name=Test', '-c', 'user.email=test@shop.example']
  const run = (...args: string[]) => {
    execFileSync('git', [...who, ...args], { cwd: folder, stdio: 'ignore' })
  }
  run('init')
  run('add', '.')
  run('commit', '-m', 'first')
  return { folder, run }
}

test('a file that is not committed, a tag that is taken and a folder outside of git are refused', (t) => {
  const { folder, run } = repository(t)

  assert.deepEqual(gitFaults(folder, '1.0.0'), [])
  run('tag', 'v1.0.0')
  assert.deepEqual(gitFaults(folder, '1.0.0'), ['the tag v1.0.0 is taken'])
  writeFileSync(join(folder, 'b.txt'), 'b')
  assert.deepEqual(gitFaults(folder, '1.0.1'), ['not committed: ?? b.txt'])
  assert.deepEqual(gitFaults(folderWith(t, {}), '1.0.0'), ['this is no clone of the repository'])
})

test('a build names its commit, says when tracked files differ from it, and names none outside of git', (t) => {
  const { folder } = repository(t)

  const commit = readCommit(folder)
  assert.match(commit ?? '', /^[0-9a-f]{9}$/u)
  writeFileSync(join(folder, 'untracked.txt'), '')
  assert.equal(readCommit(folder), commit)
  writeFileSync(join(folder, 'a.txt'), 'changed')
  assert.equal(readCommit(folder), `${commit}.changed`)
  assert.equal(readCommit(folderWith(t, {})), null)
})

const clientFiles = [
  'LICENSE',
  'README.md',
  'package.json',
  'dist/client/client.js',
  'dist/client/client.d.ts',
]
const strangers = [
  'src/client/client.ts',
  'tests/client/retry.test.ts',
  'dist/client/client.test.js',
  'dist/client/client.js.map',
  'data/secrets.json',
  '.env',
]
for (const stranger of strangers) {
  test(`a client that is packed with ${stranger} is refused`, () => {
    const name = '@shelftrace/client'

    assert.deepEqual(packedFilesFaults({ name, files: clientFiles }), [])
    assert.deepEqual(packedFilesFaults({ name, files: [...clientFiles, stranger] }), [
      `${name} has ${stranger}, which is not to be published`,
    ])
  })
}

test('a package without its licence is refused, and so is the source of the dashboard in the service', () => {
  const name = '@shelftrace/client'
  assert.deepEqual(packedFilesFaults({ name, files: clientFiles.slice(1) }), [
    `${name} lacks LICENSE`,
  ])

  const files = [
    'dashboard/src/main.tsx',
    'dist/dashboard/assets/main.js.map',
    'dist/data/admin-key',
  ]
  const faults = packedFilesFaults({ name: 'shelftrace', files })
  assert.equal(faults.filter((fault) => fault.includes('not to be published')).length, files.length)
})

test('a key of the service or a private key in a packed file is refused, without being repeated', (t) => {
  const key = `st_${'k'.repeat(43)}`
  const folder = folderWith(t, {
    'docs/guide.md': 'export KEY=st_…',
    'docs/leak.md': `export KEY=${key}`,
    'dist/tls.js': 'const pem = `-----BEGIN EC PRIVATE KEY-----`',
  })

  const faults = secretFaults('shelftrace', folder)

  assert.deepEqual(faults.toSorted(), [
    'shelftrace has a secret in dist/tls.js',
    'shelftrace has a secret in docs/leak.md',
  ])
})

function folderWith(t: TestContext, files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'shelftrace-release-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  return folder
}
