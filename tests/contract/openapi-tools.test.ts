// The document as the tools of its readers take it: two linters at their strictest, and generated types.
// The tools are packages of their own (.ci/openapi), because one of them brings two hundred others.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { buildOpenApi } from '../../src/contract/openapi.ts'
import { startHarness } from '../campaign/harness.ts'

const tools = '.ci/openapi'
const skip = existsSync(join(tools, 'node_modules'))
  ? false
  : `npm ci --ignore-scripts --prefix ${tools} was not run`

const folder = mkdtempSync(join(tmpdir(), 'shelftrace-openapi-'))
const path = join(folder, 'openapi.json')
let served = ''

before(async () => {
  const trackingUrl = 'http://127.0.0.1:8080'
  const campaignUrl = 'http://127.0.0.1:8081'
  const openApi = () => buildOpenApi({ trackingUrl, campaignUrl, version: '1.2.3' })
  const { app } = startHarness({ openApi })
  served = (await app.inject({ url: '/openapi.json' })).body
  await app.close()
  writeFileSync(path, served)
})
after(() => rmSync(folder, { recursive: true, force: true }))

function run(...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  assert.equal(status, 0, `${stdout}${stderr}`)
  return stdout
}

test('Redocly and Spectral find neither an error nor a warning', { skip }, () => {
  assert.equal(run(join(tools, 'lint.mjs'), path), '')
})

// A linter that finds nothing in anything would prove nothing.
test('both linters find what is wrong with a document', { skip }, () => {
  const wrong = join(folder, 'wrong.json')
  const document = JSON.parse(served) as { readonly paths: Readonly<Record<string, object>> }
  const one = JSON.stringify({
    ...document,
    paths: { '/conversion': document.paths['/conversion'] },
  })
  writeFileSync(wrong, one.replaceAll('"quantity":2', '"quantity":"2"'))

  const found = run(join(tools, 'lint.mjs'), wrong)

  assert.match(found, /^redocly no-invalid-media-type-examples at .*conversion/mu)
  assert.match(found, /^spectral oas3-valid-media-example at .*conversion/mu)
})

test(
  'a program over types that are generated from it compiles, and only if it is right',
  { skip },
  () => {
    const generate = join(tools, 'node_modules/openapi-typescript/bin/cli.js')
    run(generate, path, '-o', join(folder, 'openapi.d.ts'), '--default-non-nullable=false')
    copyFileSync(join(tools, 'consumer.ts'), join(folder, 'consumer.ts'))

    run(
      'node_modules/typescript/bin/tsc',
      '--ignoreConfig',
      '--noEmit',
      '--strict',
      '--exactOptionalPropertyTypes',
      '--target',
      'es2023',
      '--module',
      'nodenext',
      '--allowImportingTsExtensions',
      '--types',
      '',
      join(folder, 'consumer.ts')
    )
  }
)
