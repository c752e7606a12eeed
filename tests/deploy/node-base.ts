// A base image with Node for building deploy/Dockerfile where no registry can be asked: packages of this Debian
// machine, and the Node that runs the test.
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, lstatSync, mkdirSync, realpathSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'

const packages = [
  'base-files',
  'base-passwd',
  'ca-certificates',
  'coreutils',
  'dash',
  'libacl1',
  'libattr1',
  'libc-bin',
  'libc6',
  'libgcc-s1',
  'libgmp10',
  'libpcre2-8-0',
  'libselinux1',
  'libstdc++6',
  'tini',
  'tzdata',
]

const merged = ['bin', 'sbin', 'lib', 'lib64'] as const

/** Copies what the image needs into an empty folder. */
export function makeNodeBase(folder: string): void {
  for (const name of merged) {
    mkdirSync(join(folder, 'usr', name), { recursive: true })
    symlinkSync(`usr/${name}`, join(folder, name))
  }
  for (const name of ['proc', 'dev', 'tmp', 'root', 'etc', 'var']) {
    mkdirSync(join(folder, name), { recursive: true })
  }
  const listed = execFileSync('dpkg', ['-L', ...packages], { encoding: 'utf8' }).split('\n')
  const npm = dirname(dirname(realpathSync(join(dirname(process.execPath), 'npm'))))
  const files = [
    ...listed.filter((path) => /^\/(?:usr|bin|lib|lib64|etc)\//u.test(path) && isFile(path)),
    '/etc/passwd',
    '/etc/group',
    '/etc/resolv.conf',
    '/etc/hosts',
    '/etc/ssl/certs/ca-certificates.crt',
    // Settings of npm for the whole machine, such as an authority of its own.
    join(dirname(dirname(process.execPath)), 'etc/npmrc'),
  ]
  for (const path of files.filter((one) => existsSync(one))) {
    copy(path, join(folder, realpathSync(dirname(path)), path.slice(dirname(path).length + 1)))
  }
  copy(realpathSync(process.execPath), join(folder, 'usr/bin/node'))
  copy(npm, join(folder, 'usr/lib/node_modules/npm'))
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(folder, 'usr/bin/npm'))
}

function isFile(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false })
  return found !== undefined && !found.isDirectory()
}

function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true })
  cpSync(from, to, { recursive: true, verbatimSymlinks: true })
}
