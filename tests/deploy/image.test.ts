import assert from 'node:assert/strict'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { aBundle } from '../helpers/bundle.ts'
import { freePort } from '../../scripts/free-port.ts'
import { eventually, statusOf } from '../helpers/service.ts'
import { Container, Images, noImages } from './container.ts'

/** Not that of the image: platforms choose one of their own. */
const user = 23_456

describe('the image', { skip: noImages, timeout: 900_000 }, () => {
  let images: Images
  let root = ''

  before(() => {
    images = new Images()
    images.makeBase()
    images.build('full')
    root = images.unpack('full')
  })
  after(() => images?.close())

  it('says all that a platform wants to know: a user by number, a volume, a health check, a first process that reaps', () => {
    const config = images.inspect('full')

    assert.equal(config.User, '10001:10001')
    assert.deepEqual(Object.keys(config.Volumes), ['/data'])
    assert.equal(config.StopSignal, 'SIGTERM')
    assert.equal(config.Entrypoint[0], 'tini')
    assert.equal(config.Healthcheck?.Test[0], 'CMD')
    const { uid, gid, mode } = statSync(join(root, 'data'))
    assert.deepEqual([uid, gid, mode & 0o777], [10_001, 10_001, 0o700])
  })

  it('holds what runs, and neither sources, tests and tools nor the settings of who built it', () => {
    for (const path of ['dist/cli.js', 'node_modules/fastify', 'node_modules/chdb', 'LICENSE']) {
      assert.ok(existsSync(join(root, 'app', path)), path)
    }
    for (const path of ['app/src', 'app/tests', 'app/.git', 'app/node_modules/typescript']) {
      assert.ok(!existsSync(join(root, path)), path)
    }
    assert.ok(!existsSync(join(root, 'root/.npmrc')))
  })

  it('runs as another user on a read-only root, survives a kill without loss, and ends within 10 s of SIGTERM', async (t) => {
    const [trackingPort, campaignPort] = [await freePort(), await freePort()]
    const volume = images.newVolume('data')
    const container = new Container({
      root,
      config: images.inspect('full'),
      volume,
      user,
      env: {
        SHELFTRACE_HOST: '127.0.0.1',
        SHELFTRACE_TRACKING_PORT: String(trackingPort),
        SHELFTRACE_CAMPAIGN_PORT: String(campaignPort),
        SHELFTRACE_TRACKERS: '1',
      },
    })
    t.after(() => container.kill())
    const campaignUrl = `http://127.0.0.1:${campaignPort}`
    const trackingUrl = `http://127.0.0.1:${trackingPort}`
    const isReady = async () => {
      const urls = [trackingUrl, campaignUrl].map((url) => `${url}/readyz`)
      return (await Promise.all(urls.map(statusOf))).every((status) => status === 200)
    }
    const ask = async (method: string, path: string, body?: object) => {
      const key = readFileSync(join(volume, 'admin-key'), 'utf8').trim()
      return await fetch(`${campaignUrl}${path}`, {
        method,
        headers: { authorization: `Bearer ${key}` },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
    }
    const order = async (number: number) => {
      const conversion = {
        user_id: 'shopper-1',
        transaction_id: `order-${number}`,
        site_id: 101,
        publisher_id: 10,
        currency: 'EUR',
        products: [{ gtin: '4006381333931', price: 19.99, quantity: 1 }],
      }
      return (
        await fetch(`${trackingUrl}/conversion`, {
          method: 'POST',
          body: JSON.stringify(conversion),
        })
      ).status
    }

    container.start()
    await eventually(`it is ready\n${container.output}`, isReady)
    assert.equal(await container.checkHealth(), 0)
    assert.equal((await ask('PUT', '/admin/v1/catalog', aBundle())).status, 200)
    assert.deepEqual(await Promise.all([1, 2, 3, 4, 5].map(order)), [200, 200, 200, 200, 200])
    assert.notEqual(await container.stop('SIGKILL'), 0)
    assert.notEqual(await container.checkHealth(), 0)

    container.start()
    await eventually(`it is ready again\n${container.output}`, isReady)
    for (const number of [1, 2, 3, 4, 5]) {
      await eventually(`order ${number} is there`, async () => {
        const path = `/admin/v1/conversions/10/order-${number}`
        return (await ask('GET', path)).status === 200
      })
    }
    // After 10 s the service would give up, with another code.
    assert.equal(await container.stop('SIGTERM'), 0, container.output)
    assert.equal(statSync(join(volume, 'spool')).uid, user)
  })

  it('has a second form without the ClickHouse in process, which says what it needs', async (t) => {
    images.build('server')
    const small = images.unpack('server')
    assert.ok(!existsSync(join(small, 'app/node_modules/chdb')))
    const container = new Container({
      root: small,
      config: images.inspect('server'),
      volume: images.newVolume('server-data'),
      user,
      env: { SHELFTRACE_HOST: '127.0.0.1' },
    })
    t.after(() => container.kill())
    container.start()
    await eventually('it has said what is missing', () =>
      Promise.resolve(container.output.includes('SHELFTRACE_WAREHOUSE_URL'))
    )
  })
})
