// What a shop or an ad server gets: the two small packages, installed by npm into an empty folder and used from there.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { clientVersion } from '../../src/client/caller.ts'
import { answer, playScript } from '../helpers/scripted-server.ts'
import { emptyFolder, nodes, packForTest, runNode, runNpm, skip, startRegistry } from './npm.ts'

const packed = packForTest({ after })
const client = packed.get('@shelftrace/client')
const trackingData = packed.get('@shelftrace/tracking-data')
assert.ok(client !== undefined && trackingData !== undefined)
const tarballs = [client.path, trackingData.path]

const useBoth = `
const client = createPublisherClient({ url: process.argv[2] })
client.sendConversion({
  user_id: 'shopper-1', transaction_id: 'order-1', site_id: 101, publisher_id: 10, currency: 'EUR',
  products: [{ gtin: '4006381333931', price: 19.99, quantity: 2 }],
}).then((sent) => {
  const ring = createKeyRing()
  const { trackingData } = createMinter(ring).mint({
    publisherId: 10, siteId: 101, marketId: 1, advertiserId: 1, campaignId: 1001, adGroupId: 5001,
    gtin: '4006381333931', groupId: 'COFFEE', userId: 'shopper-1', currency: 'EUR',
    costPerClickMicros: parseCostMicros('0.25'), costPerMilleMicros: 0n,
    landingUrl: 'https://shop.example/coffee',
  })
  const [opened] = [createOpener(ring).open(trackingData)]
  console.log(JSON.stringify([sent, opened.data.gtin, trackingData.length > 100]))
})
`
const names = {
  client: '{ createPublisherClient }',
  trackingData: '{ createKeyRing, createMinter, createOpener, parseCostMicros }',
} as const
const programs = {
  'imports.mjs': `import ${names.client} from '@shelftrace/client'
import ${names.trackingData} from '@shelftrace/tracking-data'
${useBoth}`,
  'requires.cjs': `const ${names.client} = require('@shelftrace/client')
const ${names.trackingData} = require('@shelftrace/tracking-data')
${useBoth}`,
} as const

for (const node of nodes) {
  test(
    `${node.name} installs both packages in silence, and programs that import or require them work`,
    {
      skip: skip || node.skip,
    },
    async (t) => {
      const registry = await startRegistry(t)
      const folder = emptyFolder(t)
      writeFileSync(join(folder, 'package.json'), '{}')

      const installed = await runNpm(node.path, ['install', '--engine-strict', ...tarballs], {
        cwd: folder,
        registry,
      })

      assert.equal(installed.stderr, '')
      assert.match(installed.stdout, /^\s*added \d+ packages in \S+\s*$/u)
      for (const [name, program] of Object.entries(programs)) {
        const server = await playScript(t, answer(200))
        writeFileSync(join(folder, name), program)
        const ran = await runNode(node.path, [name, server.url], { cwd: folder })
        assert.deepEqual([ran.stderr, ran.code], ['', 0], name)
        assert.deepEqual(JSON.parse(ran.stdout), [{ attemptCount: 1 }, '4006381333931', true])
        assert.equal(server.received.length, 1)
      }
    }
  )
}

test(
  'with what they need they are ten packages without scripts for an installation, of 14 MB at most',
  { skip },
  async (t) => {
    const registry = await startRegistry(t)
    const folder = emptyFolder(t)
    writeFileSync(join(folder, 'package.json'), '{}')

    await runNpm(process.execPath, ['install', ...tarballs], { cwd: folder, registry })

    const lock = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { hasInstallScript?: boolean }>
    }
    const modules = Object.entries(lock.packages).filter(([path]) => path !== '')
    assert.deepEqual(modules.map(([path]) => path.replace('node_modules/', '')).toSorted(), [
      '@bufbuild/protobuf',
      '@shelftrace/client',
      '@shelftrace/tracking-data',
      'ajv',
      'csv-parse',
      'fast-deep-equal',
      'fast-uri',
      'json-schema-traverse',
      'require-from-string',
      'typebox',
    ])
    for (const [path, { hasInstallScript }] of modules)
      assert.equal(hasInstallScript, undefined, path)
    assert.ok(sizeOf(join(folder, 'node_modules')) < 14_000_000)
  }
)

test('each has its licence, a page that introduces it, its build, and nothing else', () => {
  for (const { name, files, unpackedBytes } of [client, trackingData]) {
    const others = files.filter((file) => !/^dist\/[\w/-]+\.(?:js|d\.ts)$/u.test(file))
    assert.deepEqual(others, ['LICENSE', 'README.md', 'package.json'], name)
    assert.ok(unpackedBytes < 420_000, name)
  }
})

test('the client says the version of its package', () => {
  assert.equal(clientVersion, client.version)
})

/** What the files hold, without the rounding of a file system. */
function sizeOf(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
  return files
    .filter((file) => file.isFile())
    .reduce((sum, file) => sum + statSync(join(file.parentPath, file.name)).size, 0)
}
