// `npm run release:check`: whether this commit can be released. Builds, packs, writes the list of all packages
// inside (SBOM) beside them into `packed/`, and fails with every reason against it.
import { execFileSync, spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { clientVersion } from '../src/client/caller.ts'
import {
  changelogFaults,
  gitFaults,
  licenceFaults,
  sbomFaults,
  versionFaults,
  type Sbom,
} from './release/checks.ts'
import { packAll, type Packed } from './release/pack.ts'
import { libraryFolders, readLock, readManifest, publishedLock } from './release/packages.ts'
import { packedFilesFaults, secretFaults } from './release/packed-files.ts'

const folder = 'packed'
const manifest = readManifest('.')
const { version } = manifest
const lock = publishedLock(manifest, readLock('.'))
let isFit = true

report('all packages have one version', [
  ...versionFaults([manifest, ...libraryFolders.map(readManifest)], clientVersion),
])
report('the changelog has this version', changelogFaults(read('CHANGELOG.md'), version))
report('git has this state, and a free tag for it', gitFaults('.', version))
report('licences are allowed', licenceFaults(lock))

const { status } = spawnSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' })
if (status !== 0) process.exit(status ?? 1)
const packed = packAll(folder)
report('packages hold what they must, and nothing else', packed.flatMap(packedFilesFaults))
inUnpacked(packed, (unpacked) => {
  report(
    'packages hold no secret',
    [...unpacked].flatMap(([name, path]) => secretFaults(name, path))
  )
  const sbom = writeSbom(unpacked.get(manifest.name) ?? '')
  report('the SBOM lists what is installed', sbomFaults(sbom, lock))
})
process.exitCode = isFit ? 0 : 1

function report(check: string, faults: readonly string[]): void {
  console.log(`${faults.length === 0 ? '✔' : '✖'} ${check}`)
  for (const fault of faults) console.log(`    ${fault}`)
  isFit &&= faults.length === 0
}

/** npm makes it from the packed service alone, so it also has what other platforms install. */
function writeSbom(unpacked: string): Sbom {
  copyFileSync(join(unpacked, 'tested-packages.json'), join(unpacked, 'package-lock.json'))
  const args = ['sbom', '--sbom-format=cyclonedx', '--package-lock-only', '--omit=dev']
  const text = execFileSync('npm', args, { cwd: unpacked, encoding: 'utf8' })
  writeFileSync(join(folder, `${manifest.name}-${version}.cdx.json`), text)
  const sbom: Sbom = JSON.parse(text)
  return sbom
}

/** Folders by the names of the packages. npm names the subject of an SBOM after its folder. */
function inUnpacked(
  all: readonly Packed[],
  look: (folders: ReadonlyMap<string, string>) => void
): void {
  const parent = mkdtempSync(join(tmpdir(), 'shelftrace-release-'))
  try {
    const folders = all.map(({ name, path }) => {
      const unpacked = join(parent, name)
      mkdirSync(unpacked, { recursive: true })
      execFileSync('tar', ['-xzf', path, '--strip-components=1', '-C', unpacked])
      return [name, unpacked] as const
    })
    look(new Map(folders))
  } finally {
    rmSync(parent, { recursive: true, force: true })
  }
}

function read(path: string): string {
  return readFileSync(path, 'utf8')
}
