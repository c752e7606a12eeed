import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseConfig } from '../src/config.ts'
import { ServiceError } from '../src/errors.ts'

function faultsOf(environment: Record<string, string>): string {
  try {
    parseConfig(environment)
  } catch (error) {
    assert.ok(error instanceof ServiceError)
    assert.equal(error.code, 'CONFIG_INVALID')
    return error.message
  }
  return ''
}

test('an empty environment is a complete configuration on loopback', () => {
  const config = parseConfig({})

  assert.equal(config.host, '127.0.0.1')
  assert.equal(config.trackingUrl, 'http://127.0.0.1:8080')
  assert.equal(config.campaignUrl, 'http://127.0.0.1:8081')
  assert.deepEqual(config.roles, ['tracker', 'engine'])
  assert.equal(config.settleMs, 2_000)
  assert.equal(config.spoolBytesMax, 10 * 1024 ** 3)
  assert.equal(config.retentionDays, 400)
  assert.equal(config.requestsPerMinuteMax, 600)
  assert.equal(config.reportsPerKeyMax, 4)
  assert.equal(config.warehouseUrls, null)
  assert.ok(config.trackerCount >= 1)
})

const broken: readonly (readonly [Record<string, string>, RegExp])[] = [
  [
    { SHELFTRACE_TRACKING_PORT: '80a' },
    /SHELFTRACE_TRACKING_PORT must be an integer from 1 to 65535, got "80a"/,
  ],
  [{ SHELFTRACE_TRACKING_PORT: '0' }, /SHELFTRACE_TRACKING_PORT must be an integer from 1/],
  [{ SHELFTRACE_CAMPAIGN_PORT: '65536' }, /SHELFTRACE_CAMPAIGN_PORT must be/],
  [{ SHELFTRACE_CAMPAIGN_PORT: '8080' }, /SHELFTRACE_CAMPAIGN_PORT must differ/],
  [{ SHELFTRACE_SETTLE_MS: '-1' }, /SHELFTRACE_SETTLE_MS must be an integer from 0/],
  [
    { SHELFTRACE_DRAIN_MS: '86400001' },
    /SHELFTRACE_DRAIN_MS must be an integer from 0 to 86400000, got "86400001"/,
  ],
  [
    { SHELFTRACE_DRAIN_NOTICE_MS: '-1' },
    /SHELFTRACE_DRAIN_NOTICE_MS must be an integer from 0 to 600000, got "-1"/,
  ],
  [{ SHELFTRACE_RETENTION_DAYS: '59' }, /SHELFTRACE_RETENTION_DAYS must be an integer from 60/],
  [
    { SHELFTRACE_REQUESTS_PER_MINUTE: '0' },
    /SHELFTRACE_REQUESTS_PER_MINUTE must be an integer from 1 to 1000000, got "0"/,
  ],
  [
    { SHELFTRACE_REPORTS_AT_ONCE: '101' },
    /SHELFTRACE_REPORTS_AT_ONCE must be an integer from 1 to 100, got "101"/,
  ],
  [{ SHELFTRACE_TRACKERS: '1.5' }, /SHELFTRACE_TRACKERS must be an integer/],
  [{ SHELFTRACE_WAREHOUSE_URL: 'localhost' }, /SHELFTRACE_WAREHOUSE_URL must be an absolute http/],
  ...(
    [
      ['https://a.example/x,ftp://b.example/x', /_URL must be an absolute http/],
      ['https://a.example/x,', /_URL must be an absolute http/],
      ['https://a.example/x,https://a.example/x', /_URL must name each host and port once/],
      ['https://a.example/x,https://b.example/y', /_URL must name the same database/],
      [Array.from({ length: 17 }, (_, n) => `https://r${n}.example/x`).join(), /at most 16 addr/],
    ] as const
  ).map(([url, rule]) => [{ SHELFTRACE_WAREHOUSE_URL: url }, rule] as const),
  ...['0', '17', '-1', 'majority', '1.5'].map(
    (quorum) =>
      [
        { SHELFTRACE_WAREHOUSE_QUORUM: quorum },
        /SHELFTRACE_WAREHOUSE_QUORUM must be "auto" or an integer from 1 to 16/,
      ] as const
  ),
  ...[
    'ftp://x',
    'https://track.example/?src=ad',
    'https://track.example/#/t',
    'https://user:canary@track.example',
    'https://user@track.example',
    'track.example',
    'https://',
    'https://${HOST}',
    'https://*.track.example',
    'https://track..example',
    'https://a.example,https://b.example',
    'https://track.example/%zz',
  ].map(
    (url) =>
      [
        { SHELFTRACE_TRACKING_URL: url },
        /SHELFTRACE_TRACKING_URL must be an absolute http/,
      ] as const
  ),
  ...[' /data', '/data ', '~/data', '/data\u0007', '\t'].map(
    (path) => [{ SHELFTRACE_DATA_DIR: path }, /SHELFTRACE_DATA_DIR must be a path without/] as const
  ),
  [{ SHELFTRACE_BACKUP_DIR: '~/backups' }, /SHELFTRACE_BACKUP_DIR must be a path without/],
  [{ SHELFTRACE_DATA_DIR: '/data\r' }, /SHELFTRACE_DATA_DIR must not end with a carriage return/],
  [{ SHELFTRACE_DATA_DIR: '"/data"' }, /SHELFTRACE_DATA_DIR must not have quotes around it/],
  [{ SHELFTRACE_HOST: "'::1'" }, /SHELFTRACE_HOST must not have quotes around it/],
  [{ SHELFTRACE_ROLES: 'tracker,enigne' }, /SHELFTRACE_ROLES must be/],
  [{ SHELFTRACE_ROLES: 'tracker' }, /SHELFTRACE_WAREHOUSE_URL must be set where SHELFTRACE_ROLES/],
  [{ SHELFTRACE_TLS_CERT: '/x' }, /SHELFTRACE_TLS_KEY must be set too/],
  [{ SHELFTRACE_DATACENTRE_NETWORKS: '/x' }, /is not a variable of Shelftrace/],
  [{ SHELFTRACE_TRUST_PROXY: 'yes' }, /SHELFTRACE_TRUST_PROXY must be one of true, false/],
  [{ SHELFTRACE_LOG_LEVEL: 'loud' }, /SHELFTRACE_LOG_LEVEL must be one of/],
  [{ SHELFTRACE_HOST: '0.0.0.0' }, /SHELFTRACE_HOST must be a loopback address unless/],
  ...['[::1]', ' 127.0.0.1', '127.0.0.1 '].map(
    (host) =>
      [{ SHELFTRACE_HOST: host }, /SHELFTRACE_HOST must be .* without blanks or brackets/] as const
  ),
  ...(
    [
      ['SHELFTRACE_WAREHOUSE_QUORUM', '2'],
      ['SHELFTRACE_TRUST_WAREHOUSE_NETWORK', 'true'],
    ] as const
  ).map(
    ([name, value]) =>
      [
        { [name]: value },
        new RegExp(`SHELFTRACE_WAREHOUSE_URL must be set where ${name} is`),
      ] as const
  ),
  [{ SHELFTRACE_ADMIN_KEY: '' }, /SHELFTRACE_ADMIN_KEY must have at least 32/],
  [{ SHELFTRACE_ADMIN_KEY: '   ' }, /SHELFTRACE_ADMIN_KEY must have at least 32/],
  [{ SHELFTRACE_TRAKERS: '2' }, /SHELFTRACE_TRAKERS is not a variable of Shelftrace/],
]

for (const [environment, expected] of broken) {
  const [name = ''] = Object.keys(environment)
  test(`a fault in ${name} (${JSON.stringify(environment[name])}) is told with its name and rule`, () => {
    assert.match(faultsOf(environment), expected)
  })
}

test('every fault is told at once', () => {
  const faults = faultsOf({ SHELFTRACE_TRACKING_PORT: 'x', SHELFTRACE_SETTLE_MS: 'y' })

  assert.match(faults, /SHELFTRACE_TRACKING_PORT/)
  assert.match(faults, /SHELFTRACE_SETTLE_MS/)
})

test('no fault repeats a key or a password', () => {
  const faults = faultsOf({
    SHELFTRACE_ADMIN_KEY: 'secret canary',
    SHELFTRACE_WAREHOUSE_URL: 'http//user:canary@host',
  })

  assert.match(faults, /SHELFTRACE_ADMIN_KEY/)
  assert.match(faults, /SHELFTRACE_WAREHOUSE_URL/)
  assert.doesNotMatch(faults, /canary/)
})

test('the warehouse may have several addresses, whose passwords may hold commas', () => {
  const urls = ['https://user:one,two@a.example/x', 'https://user:https@b.example:8443/x']

  const config = parseConfig({
    SHELFTRACE_WAREHOUSE_URL: urls.join(', '),
    SHELFTRACE_WAREHOUSE_QUORUM: '2',
  })

  assert.deepEqual([config.warehouseUrls, config.warehouseQuorum], [urls, 2])
  assert.equal(parseConfig({}).warehouseQuorum, 'auto')
})

test('one address in the clear among several is a fault that repeats none of them', () => {
  const urls = ['https://user:canary@a.example/x', 'http://user:canary@b.example/x']

  const faults = faultsOf({ SHELFTRACE_WAREHOUSE_URL: urls.join() })

  assert.match(faults, /SHELFTRACE_WAREHOUSE_URL must begin with https:/)
  assert.doesNotMatch(faults, /canary|example/)
})

for (const url of [
  'http://shelf:canary@clickhouse.example:8123/shelftrace',
  'http://10.0.0.7:8123/shelftrace',
  'http://127.0.0.1.example/shelftrace',
  'http://[2001:db8::1]:8123/shelftrace',
]) {
  test(`the warehouse is not spoken to in the clear at ${url.replace('canary', '…')}, unless its network is trusted`, () => {
    const faults = faultsOf({ SHELFTRACE_WAREHOUSE_URL: url })

    assert.match(faults, /SHELFTRACE_WAREHOUSE_URL must begin with https:.*_WAREHOUSE_NETWORK=true/)
    assert.doesNotMatch(faults, /canary/)
    assert.equal(
      faultsOf({ SHELFTRACE_WAREHOUSE_URL: url, SHELFTRACE_TRUST_WAREHOUSE_NETWORK: 'true' }),
      ''
    )
  })
}

for (const url of [
  'https://shelf:secret@clickhouse.example:8443/shelftrace',
  'http://localhost:8123/shelftrace',
  'http://127.0.0.1:8123/shelftrace',
  'http://127.1:8123/shelftrace',
  'http://[::1]:8123/shelftrace',
]) {
  test(`the warehouse may be at ${url}`, () => {
    assert.equal(faultsOf({ SHELFTRACE_WAREHOUSE_URL: url }), '')
  })
}

test('another host is taken with a certificate or behind a proxy', () => {
  const proxied = { SHELFTRACE_HOST: '0.0.0.0', SHELFTRACE_TRUST_PROXY: '1' }
  const secure = {
    SHELFTRACE_HOST: '::',
    SHELFTRACE_TLS_CERT: 'cert.pem',
    SHELFTRACE_TLS_KEY: 'key.pem',
  }

  assert.equal(parseConfig(proxied).trustProxy, true)
  assert.equal(parseConfig(secure).trackingUrl, 'https://[::]:8080')
})

test('links begin with an address that any path can follow', () => {
  for (const [given, base] of [
    ['https://track.example', 'https://track.example'],
    ['https://track.example/', 'https://track.example'],
    [' https://track.example ', 'https://track.example'],
    ['https://track.example\n', 'https://track.example'],
    ['https://track.example/?', 'https://track.example'],
    ['https://Track.example:443/t//', 'https://track.example/t'],
    ['http://track.example:8080/a b', 'http://track.example:8080/a%20b'],
    ['https://täck.example', 'https://xn--tck-qla.example'],
    ['https://track_1.example.', 'https://track_1.example.'],
    ['http://[2001:db8::1]:8080', 'http://[2001:db8::1]:8080'],
    ['http://tracker', 'http://tracker'],
  ] as const) {
    assert.equal(parseConfig({ SHELFTRACE_TRACKING_URL: given }).trackingUrl, base, given)
  }
})

function serviceLinks(service: string, port: number) {
  return {
    [`${service}_SERVICE_HOST`]: '10.0.0.11',
    [`${service}_SERVICE_PORT`]: String(port),
    [`${service}_SERVICE_PORT_HTTP_ADMIN`]: String(port),
    [`${service}_PORT`]: `tcp://10.0.0.11:${port}`,
    [`${service}_PORT_${port}_TCP`]: `tcp://10.0.0.11:${port}`,
    [`${service}_PORT_${port}_TCP_PROTO`]: 'tcp',
    [`${service}_PORT_${port}_TCP_PORT`]: String(port),
    [`${service}_PORT_${port}_TCP_ADDR`]: '10.0.0.11',
    [`${service}_PORT_53_UDP_ADDR`]: '10.0.0.11',
  }
}

test('variables that Kubernetes makes for Services of these names are no settings', () => {
  const config = parseConfig({
    ...serviceLinks('SHELFTRACE', 8080),
    ...serviceLinks('SHELFTRACE_TRACKING', 9090),
    ...serviceLinks('SHELFTRACE_CAMPAIGN', 9091),
  })

  assert.equal(config.trackingPort, 8080)
  assert.equal(config.campaignPort, 8081)
})

test('what only looks like such a variable is refused as before', () => {
  for (const [name, value] of [
    ['SHELFTRACE_TRACKING_PORT', 'tcp'],
    ['SHELFTRACE_TRACKING_PORT', 'http://10.0.0.11:8080'],
    ['SHELFTRACE_PORT', '8080'],
    ['SHELFTRACE_PORT_8080', '8080'],
    ['SHELFTRACE_SERVICE', '10.0.0.11'],
    ['SHELFTRACE_TRUST_PROXY', 'tcp://10.0.0.11:8080'],
  ] as const) {
    assert.match(faultsOf({ [name]: value }), new RegExp(name), name)
  }
})

test('the key and the address of the warehouse may come from files, which only their owner can read', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'shelftrace-config-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = (name: string, content: string, mode = 0o600) => {
    const path = join(folder, name)
    writeFileSync(path, content)
    chmodSync(path, mode)
    return path
  }
  const key = 'k'.repeat(43)
  const url = 'https://user:canary@clickhouse.example:8443/shelftrace'

  const config = parseConfig({
    SHELFTRACE_ADMIN_KEY_FILE: file('key', `${key}\n`),
    SHELFTRACE_WAREHOUSE_URL_FILE: file('url', ` ${url}\r\n`),
  })
  assert.deepEqual([config.adminKey, config.warehouseUrls], [key, [url]])
  assert.equal(parseConfig({ SHELFTRACE_WAREHOUSE_URL_FILE: '' }).warehouseUrls, null)

  for (const [environment, fault] of [
    [
      { SHELFTRACE_ADMIN_KEY: key, SHELFTRACE_ADMIN_KEY_FILE: 'x' },
      /_KEY and .*_KEY_FILE must not/,
    ],
    [{ SHELFTRACE_ADMIN_KEY_FILE: join(folder, 'none') }, /_KEY_FILE: .*none cannot be read/],
    [{ SHELFTRACE_ADMIN_KEY_FILE: folder }, /SHELFTRACE_ADMIN_KEY_FILE: /],
    [{ SHELFTRACE_ADMIN_KEY_FILE: file('open', key, 0o644) }, /_KEY_FILE: .*is open to others/],
    [{ SHELFTRACE_ADMIN_KEY_FILE: file('empty', '\n') }, /SHELFTRACE_ADMIN_KEY must have at least/],
    [{ SHELFTRACE_WAREHOUSE_URL_FILE: file('no-url', 'canary') }, /_URL must be an absolute http/],
    [{ SHELFTRACE_SECRETS_FILE_FILE: 'x' }, /is not a variable of Shelftrace/],
  ] as const) {
    const faults = faultsOf(environment)
    assert.match(faults, fault)
    assert.ok(!faults.includes('canary') && !faults.includes(key), faults)
  }
})
