// `npm run build`: the service and its dashboard into `dist/`, and the two small packages into theirs. What an
// earlier build left is removed first, since everything below `dist/` is packed.
import { spawnSync } from 'node:child_process'
import { copyFileSync, cpSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { bundleOptions } from './bundle.ts'
import { readCommit } from './release/commit.ts'
import { libraryFolders } from './release/packages.ts'

const outputs = ['dist', ...libraryFolders.map((folder) => join(folder, 'dist'))]
for (const folder of outputs) rmSync(folder, { recursive: true, force: true })

// Types, of what other programs import.
run('tsc', '-p', 'tsconfig.build.json')
for (const folder of libraryFolders) {
  run('tsc', '-p', join(folder, 'tsconfig.json'))
  // npm takes a licence only from the folder of its package.
  copyFileSync('LICENSE', join(folder, 'LICENSE'))
}
const placed = { ...bundleOptions(), outdir: 'dist', outbase: 'src', sourcesContent: false }
const whole = ['engine', 'tracker', 'client/client', 'tracking-data/tracking-data']
await Promise.all([
  build({ ...placed, entryPoints: whole.map((name) => `src/${name}.ts`) }),
  // In parts: a command loads what it needs.
  build({ ...placed, entryPoints: ['src/cli.ts'], splitting: true }),
])
// TypeBox asks for its licence beside it.
copyFileSync('node_modules/typebox/license', 'dist/typebox.license.txt')
cpSync('src/warehouse/migrations', 'dist/warehouse/migrations', { recursive: true })
cpSync('src/warehouse/in-process.xml', 'dist/warehouse/in-process.xml')
cpSync('src/campaign/docs-initializer.js', 'dist/campaign/docs-initializer.js')
const commit = readCommit('.')
if (commit !== null) writeFileSync('dist/build.json', `${JSON.stringify({ commit })}\n`)
// Last: whether a build is complete shows in the page of the dashboard.
run('vite', 'build', 'dashboard', '--logLevel', 'warn')

function run(program: string, ...args: readonly string[]): void {
  const { status, error } = spawnSync(join('node_modules', '.bin', program), args, {
    stdio: 'inherit',
  })
  if (error !== undefined) throw error
  if (status !== 0) process.exit(status ?? 1)
}
