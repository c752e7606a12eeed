// What an operator gets: the service installed by npm without its source, and run.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test, type TestContext } from 'node:test'
import { readManifest } from '../../scripts/release/packages.ts'
import { prepareService } from '../helpers/service.ts'
import { emptyFolder, nodes, packForTest, runNode, runNpm, skip, startRegistry } from './npm.ts'

const { path: tarball = '' } = packForTest({ after }).get('shelftrace') ?? {}
const manifest = readManifest('.')
/** Outside of git a build has no commit. */
const builtVersion = existsSync('dist/build.json')
  ? `${manifest.version}+${(JSON.parse(readFileSync('dist/build.json', 'utf8')) as { commit: string }).commit}`
  : manifest.version

const purchase = {
  user_id: 'shopper-1',
  transaction_id: 'order-1',
  site_id: 101,
  publisher_id: 10,
  currency: 'EUR',
  products: [{ gtin: '4006381333931', price: 19.99, quantity: 2 }],
}

/** Held back in `package.json`: the newer ones refuse Node 20. */
const pinned = new Set(['@fastify/static', 'light-my-request'])

// One installation for all: it takes half a gigabyte, and its native parts are the same for every Node.
test(
  'npm ci in the unpacked package installs what was tested, in silence, and the service takes a purchase',
  {
    skip,
  },
  async (t) => {
    const registry = await startRegistry(t, () => true)
    const installation = emptyFolder(t)
    execFileSync('tar', ['-xzf', tarball, '--strip-components=1', '-C', installation])
    const lock = join(installation, 'package-lock.json')
    copyFileSync(join(installation, 'tested-packages.json'), lock)

    const installed = await runNpm(process.execPath, ['ci'], { cwd: installation, registry })

    assert.equal(installed.stderr, '')
    assert.match(installed.stdout, /^\s*added \d+ packages in \S+\s*$/u)
    await t.test('it tells its version and the commit of its build', async () => {
      const { stdout } = await runNode(process.execPath, ['dist/cli.js', '--version'], {
        cwd: installation,
      })
      assert.equal(stdout, `${builtVersion}\n`)
    })
    await t.test('in the versions of the lock file', () => assertLocked(installation))
    for (const node of nodes) {
      await t.test(`with ${node.name}`, { skip: node.skip }, async (inner) => {
        await takePurchase(inner, node.path, installation)
      })
    }
  }
)

for (const node of nodes) {
  test(
    `as a package among others it is installed in silence by ${node.name}, also when newer ones want another`,
    {
      skip: skip || node.skip,
    },
    async (t) => {
      const registry = await startRegistry(t, (name) => pinned.has(name))
      const folder = emptyFolder(t)
      writeFileSync(join(folder, 'package.json'), '{}')

      // Without ClickHouse, which is optional and most of the time.
      const args = ['install', '--engine-strict', '--omit=optional', tarball]
      const installed = await runNpm(node.path, args, { cwd: folder, registry })

      assert.deepEqual([installed.stderr, installed.code], ['', 0])
      assert.ok(!existsSync(join(folder, 'node_modules/chdb')))
      await importEntries(node.path, folder)
    }
  )
}

async function takePurchase(t: TestContext, node: string, installation: string): Promise<void> {
  const service = await prepareService(t, { command: [node, join(installation, 'dist/cli.js')] })

  await service.start()

  const sent = await fetch(`${service.trackingUrl}/conversion`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(purchase),
  })
  assert.equal(sent.status, 200, await sent.text())
  const status = await service.admin('GET', '/admin/v1/status')
  const { version } = (await status.json()) as { version: string }
  assert.equal(version, builtVersion)
  for (const page of ['/', '/docs', '/openapi.json']) {
    assert.equal((await fetch(`${service.campaignUrl}${page}`)).status, 200, page)
  }
  assert.equal(await service.terminate(), 0, service.stderr)
}

interface Locked {
  readonly version: string
}

function assertLocked(installation: string): void {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    packages: Record<string, Locked>
  }
  const installed = readdirSync(join(installation, 'node_modules'), {
    recursive: true,
    encoding: 'utf8',
  })
    .filter((path) => /(?:^|node_modules\/)(?:@[^/]+\/)?[^/@]+\/package\.json$/u.test(path))
    .map((path) => join('node_modules', path, '..'))
    .filter((path) => packages[path] !== undefined)
  assert.ok(installed.length > 60, String(installed.length))
  for (const path of installed) {
    const found = JSON.parse(
      readFileSync(join(installation, path, 'package.json'), 'utf8')
    ) as Locked
    assert.equal(found.version, packages[path]?.version, path)
  }
}

async function importEntries(node: string, folder: string): Promise<void> {
  const program = `
    import { createPublisherClient } from 'shelftrace/client'
    import { createKeyRing } from 'shelftrace/tracking-data'
    console.log(typeof createPublisherClient, createKeyRing().keys.length)`
  writeFileSync(join(folder, 'program.mjs'), program)
  const ran = await runNode(node, ['program.mjs'], { cwd: folder })
  assert.deepEqual([ran.stderr, ran.stdout], ['', 'function 1\n'])
}
