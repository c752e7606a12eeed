// What may be in the packages, and must be: files that are not listed here are not published by mistake.
import { readFileSync, readdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { Packed } from './pack.ts'

interface Content {
  readonly required: readonly string[]
  /** All that may be there. */
  readonly allowed: RegExp
}

const built = String.raw`(?:[\w-]+/)*[\w-]+\.(?:js|js\.map|d\.ts)`
const service: Content = {
  required: [
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'dist/build.json',
    'dist/cli.js',
    'dist/client/client.js',
    'dist/client/client.d.ts',
    'dist/dashboard/index.html',
    'dist/dashboard/licenses.md',
    'dist/engine.js',
    'dist/tracker.js',
    'dist/tracking-data/tracking-data.js',
    'dist/tracking-data/tracking-data.d.ts',
    'dist/typebox.license.txt',
    'deploy/shelftrace.service',
    'docs/guides/operator.md',
    'tested-packages.json',
    'package.json',
    'proto/tracking-data.proto',
  ],
  allowed: new RegExp(
    [
      String.raw`^(?:CHANGELOG\.md|LICENSE|README\.md|package\.json|tested-packages\.json)$`,
      String.raw`^proto/tracking-data\.proto$`,
      String.raw`^deploy/shelftrace\.service$`,
      String.raw`^docs/(?:[\w-]+/)*[\w-]+\.(?:md|yaml|json|png)$`,
      String.raw`^dist/build\.json$`,
      String.raw`^dist/warehouse/migrations/\d{4}-[\w-]+\.sql$`,
      String.raw`^dist/dashboard/(?:index\.html|licenses\.md|assets/[\w.-]+\.(?:js|css|svg))$`,
      String.raw`^dist/typebox\.license\.txt$`,
      `^dist/(?!dashboard/)${built}$`,
    ].join('|'),
    'u'
  ),
}
const library = (entry: string): Content => ({
  required: ['LICENSE', 'README.md', 'package.json', `dist/${entry}.js`, `dist/${entry}.d.ts`],
  allowed: new RegExp(
    String.raw`^(?:LICENSE|README\.md|package\.json)$|^dist/(?:[\w-]+/)*[\w-]+\.(?:js|d\.ts)$`,
    'u'
  ),
})
const contents: Readonly<Record<string, Content>> = {
  shelftrace: service,
  '@shelftrace/client': library('client/client'),
  '@shelftrace/tracking-data': library('tracking-data/tracking-data'),
}

/** Keys of the service and private keys, wherever they hide. */
const secret = /\bst_[\w-]{43}(?![\w-])|-----BEGIN [A-Z ]*PRIVATE KEY-----/u

export function packedFilesFaults({
  name,
  files,
}: Pick<Packed, 'name' | 'files'>): readonly string[] {
  const content = contents[name]
  if (content === undefined) return [`${name} is none of our packages`]
  const missing = content.required.filter((file) => !files.includes(file))
  const strange = files.filter((file) => !content.allowed.test(file))
  return [
    ...missing.map((file) => `${name} lacks ${file}`),
    ...strange.map((file) => `${name} has ${file}, which is not to be published`),
  ]
}

/** Looks through the text of every file of an unpacked package. */
export function secretFaults(name: string, folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile() && !file.name.endsWith('.png'))
    .map((file) => join(file.parentPath, file.name))
    .filter((path) => secret.test(readFileSync(path, 'utf8')))
    .map((path) => `${name} has a secret in ${relative(folder, path)}`)
}
