// `npm ci` in the folder of the source, on a machine that only runs the service.
import assert from 'node:assert/strict'
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { libraryFolders } from '../../scripts/release/packages.ts'
import { emptyFolder, runNpm, skip, startRegistry } from './npm.ts'

/** What npm reads of the source, and a build if there is one. */
function copySource(t: TestContext, { isBuilt }: { readonly isBuilt: boolean }): string {
  const folder = emptyFolder(t)
  const manifests = libraryFolders.map((library) => join(library, 'package.json'))
  const script = 'scripts/build-after-install.mjs'
  for (const path of ['package.json', 'package-lock.json', script, ...manifests]) {
    cpSync(path, join(folder, path))
  }
  if (isBuilt) {
    mkdirSync(join(folder, 'dist', 'dashboard'), { recursive: true })
    for (const name of ['cli.js', 'dashboard/index.html']) {
      writeFileSync(join(folder, 'dist', name), '')
    }
  }
  return folder
}

const omit = ['ci', '--omit=dev', '--omit=optional', '--engine-strict'] as const

test(
  'without development packages npm ci keeps the build that is there, and warns of nothing',
  { skip },
  async (t) => {
    const registry = await startRegistry(t, () => true)

    const ran = await runNpm(process.execPath, omit, {
      cwd: copySource(t, { isBuilt: true }),
      registry,
    })

    assert.deepEqual([ran.stderr, ran.code], ['', 0])
    assert.match(ran.stdout, /the build in dist\/ is kept; building again needs all packages/u)
  }
)

test(
  'without development packages and without a build npm ci fails, and says how to get one',
  { skip },
  async (t) => {
    const registry = await startRegistry(t, () => true)

    const ran = await runNpm(process.execPath, omit, {
      cwd: copySource(t, { isBuilt: false }),
      registry,
    })

    assert.notEqual(ran.code, 0)
    assert.match(
      ran.stderr,
      /dist\/ is missing, and building it needs tsx and vite and .*Run npm ci first/u
    )
    assert.doesNotMatch(ran.stderr, /at .*\.js:\d+/u)
  }
)
