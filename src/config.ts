// The settings of the service, which come from its environment. Everything is checked at start. A fault names the
// variable, what was expected and what was given, but never the value of a secret.

import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import { adminKeyRule, isAdminKey } from './access/token.ts'
import { ConfigReader, type Environment } from './config-reader.ts'
import { readWarehouse, refuseClearWarehouse } from './config-warehouse.ts'
import type { WarehouseConfig } from './config-warehouse.ts'
import { readSignOn, type SignOnConfig } from './config-sign-on.ts'
import { ServiceError } from './errors.ts'
import { isLoopback } from './lib/loopback.ts'
import type { WebhookTarget } from './ops/watch/webhook.ts'
import type { TracingSettings } from './tracing/tracing.ts'

export type Role = 'tracker' | 'engine'

export interface TlsFiles {
  readonly certPath: string
  readonly keyPath: string
}

export interface Config extends WarehouseConfig {
  readonly dataDir: string
  readonly host: string
  readonly trackingPort: number
  readonly campaignPort: number
  readonly trackerCount: number
  /** Minted links begin with it. No trailing slash. */
  readonly trackingUrl: string
  readonly campaignUrl: string
  readonly tls: TlsFiles | null
  readonly roles: readonly Role[]
  readonly settleMs: number
  readonly spoolBytesMax: number
  /** How long SIGTERM waits until the spool is shipped; 0: it does not. */
  readonly drainMs: number
  /** How long a node that drains takes events after it says that it is not ready. */
  readonly drainNoticeMs: number
  readonly retentionDays: number
  readonly trustProxy: boolean
  /** Null: no proxy signs people in. */
  readonly signOn: SignOnConfig | null
  /** Whether deliveries need a key, for publishers that do not say so themselves. */
  readonly requiresDeliveryKey: boolean
  /** Null: no network counts as a data centre's. */
  readonly dataCentresPath: string | null
  /** Both per key and node. */
  readonly requestsPerMinuteMax: number
  readonly reportsPerKeyMax: number
  readonly logLevel: LogLevel
  readonly secretsFile: string
  readonly backupDir: string
  /** Null: no traces are exported. */
  readonly tracing: TracingSettings | null
  /** Who is told what is wrong. Null: nobody. */
  readonly alertWebhook: WebhookTarget | null
  /** Null: read from, or made in, the data folder. */
  readonly adminKey: string | null
}

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

/** Throws CONFIG_INVALID; its message lists every fault on a line of its own. */
export function parseConfig(environment: Environment): Config {
  const reader = new ConfigReader(environment)
  const dataDir = reader.pathOr('SHELFTRACE_DATA_DIR', './data')
  const host = reader.text('SHELFTRACE_HOST', '127.0.0.1')
  const trackingPort = reader.integer('SHELFTRACE_TRACKING_PORT', 8080, { min: 1, max: 65_535 })
  const campaignPort = reader.integer('SHELFTRACE_CAMPAIGN_PORT', 8081, { min: 1, max: 65_535 })
  const tls = readTls(reader)
  const scheme = tls === null ? 'http' : 'https'
  const roles = readRoles(reader)
  const config: Config = {
    dataDir,
    host,
    trackingPort,
    campaignPort,
    trackerCount: reader.integer('SHELFTRACE_TRACKERS', Math.max(1, availableParallelism() - 1), {
      min: 1,
      max: 256,
    }),
    ...readWarehouse(reader),
    trackingUrl:
      reader.linkBase('SHELFTRACE_TRACKING_URL') ?? `${scheme}://${urlHost(host)}:${trackingPort}`,
    campaignUrl: `${scheme}://${urlHost(host)}:${campaignPort}`,
    tls,
    roles,
    settleMs: reader.integer('SHELFTRACE_SETTLE_MS', 2_000, { min: 0, max: 3_600_000 }),
    spoolBytesMax: reader.integer('SHELFTRACE_SPOOL_BYTES_MAX', 10 * 1024 ** 3, {
      min: 1024 ** 2,
      max: 2 ** 50,
    }),
    drainMs: reader.integer('SHELFTRACE_DRAIN_MS', 0, { min: 0, max: 86_400_000 }),
    drainNoticeMs: reader.integer('SHELFTRACE_DRAIN_NOTICE_MS', 10_000, { min: 0, max: 600_000 }),
    retentionDays: reader.integer('SHELFTRACE_RETENTION_DAYS', 400, { min: 60, max: 36_500 }),
    trustProxy: reader.flag('SHELFTRACE_TRUST_PROXY'),
    signOn: readSignOn(reader),
    requiresDeliveryKey: reader.flag('SHELFTRACE_REQUIRE_DELIVERY_KEY'),
    dataCentresPath: reader.path('SHELFTRACE_DATACENTER_NETWORKS'),
    ...readKeyLimits(reader),
    logLevel: reader.oneOf('SHELFTRACE_LOG_LEVEL', logLevels, 'info'),
    secretsFile: reader.pathOr('SHELFTRACE_SECRETS_FILE', join(dataDir, 'secrets.json')),
    backupDir: reader.pathOr('SHELFTRACE_BACKUP_DIR', join(dataDir, 'backups')),
    tracing: readTracing(reader),
    alertWebhook: readAlertWebhook(reader),
    adminKey: readAdminKey(reader),
  }
  refuseContradictions(reader, config)
  refuseCleartext(reader, config)
  reader.refuseLeftovers()
  reader.refuseUnknown()
  if (reader.faults.length > 0) {
    throw new ServiceError(
      'CONFIG_INVALID',
      `invalid configuration:\n  ${reader.faults.join('\n  ')}`
    )
  }
  return config
}

function readKeyLimits(
  reader: ConfigReader
): Pick<Config, 'requestsPerMinuteMax' | 'reportsPerKeyMax'> {
  return {
    requestsPerMinuteMax: reader.integer('SHELFTRACE_REQUESTS_PER_MINUTE', 600, {
      min: 1,
      max: 1_000_000,
    }),
    reportsPerKeyMax: reader.integer('SHELFTRACE_REPORTS_AT_ONCE', 4, { min: 1, max: 100 }),
  }
}

function readTls(reader: ConfigReader): TlsFiles | null {
  const certPath = reader.optional('SHELFTRACE_TLS_CERT')
  const keyPath = reader.optional('SHELFTRACE_TLS_KEY')
  if (certPath !== null && keyPath !== null) {
    return { certPath: resolve(certPath), keyPath: resolve(keyPath) }
  }
  if (certPath !== null || keyPath !== null) {
    const missing = certPath === null ? 'SHELFTRACE_TLS_CERT' : 'SHELFTRACE_TLS_KEY'
    reader.faults.push(`${missing} must be set too: a certificate and its key go together`)
  }
  return null
}

function readRoles(reader: ConfigReader): readonly Role[] {
  const text = reader.text('SHELFTRACE_ROLES', 'tracker,engine')
  const words = text.split(',').map((word) => word.trim())
  const roles = words.filter((word): word is Role => word === 'tracker' || word === 'engine')
  if (roles.length !== words.length || new Set(roles).size !== roles.length) {
    reader.fault('SHELFTRACE_ROLES', 'must be "tracker", "engine" or "tracker,engine"', text)
  }
  return roles
}

/** With a blank key, an empty bearer value would open everything. */
function readAdminKey(reader: ConfigReader): string | null {
  const key = reader.secret('SHELFTRACE_ADMIN_KEY')
  if (key === undefined) return null
  if (!isAdminKey(key)) reader.faults.push(`SHELFTRACE_ADMIN_KEY must have ${adminKeyRule}`)
  return key
}

/** By the standard variables of OpenTelemetry. Those of the address and its headers are read by its exporter. */
function readTracing(reader: ConfigReader): TracingSettings | null {
  const endpoints = ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT']
  const hasEndpoint = endpoints.some((name) => reader.optional(name) !== null)
  const isOff =
    reader.optional('OTEL_SDK_DISABLED')?.toLowerCase() === 'true' ||
    reader.optional('OTEL_TRACES_EXPORTER') === 'none'
  if (!hasEndpoint || isOff) return null
  const sampler = reader.optional('OTEL_TRACES_SAMPLER')?.replace(/^parentbased_/u, '')
  if (sampler === 'always_off') return null
  const text = reader.text('OTEL_TRACES_SAMPLER_ARG', '0.001')
  const ratio = sampler === 'always_on' ? 1 : Number(text)
  if (!(ratio >= 0 && ratio <= 1)) {
    reader.fault('OTEL_TRACES_SAMPLER_ARG', 'must be a number from 0 to 1', text)
  }
  return { ratio, serviceName: reader.text('OTEL_SERVICE_NAME', 'shelftrace') }
}

/** The address may hold a token, so no fault repeats it. */
function readAlertWebhook(reader: ConfigReader): WebhookTarget | null {
  const url = reader.secretUrl('SHELFTRACE_ALERT_WEBHOOK')
  const secret = reader.secret('SHELFTRACE_ALERT_WEBHOOK_SECRET') ?? ''
  if (url === null) {
    if (secret !== '') {
      reader.faults.push('SHELFTRACE_ALERT_WEBHOOK must be set where its secret is')
    }
    return null
  }
  const { protocol, hostname, username, password } = new URL(url)
  if (username !== '' || password !== '') {
    reader.faults.push('SHELFTRACE_ALERT_WEBHOOK must not have a user or a password')
  }
  if (protocol === 'http:' && !isLoopback(hostname)) {
    reader.faults.push(
      'SHELFTRACE_ALERT_WEBHOOK must begin with https:// unless the host is a loopback address'
    )
  }
  const key = Buffer.from(secret.replace(/^whsec_/u, ''), 'base64')
  if (!/^whsec_[A-Za-z0-9+/]+=*$/u.test(secret) || key.length < 24 || key.length > 64) {
    reader.faults.push(
      'SHELFTRACE_ALERT_WEBHOOK_SECRET must be whsec_ and 24 to 64 bytes in base64, as from ' +
        'echo "whsec_$(openssl rand -base64 32)"'
    )
  }
  return { url, secret: key }
}

function refuseContradictions(reader: ConfigReader, config: Config): void {
  if (config.trackingPort === config.campaignPort) {
    reader.fault(
      'SHELFTRACE_CAMPAIGN_PORT',
      'must differ from SHELFTRACE_TRACKING_PORT',
      String(config.campaignPort)
    )
  }
  const ownFolders = ['warehouse', 'spool'].map((name) => join(config.dataDir, name))
  if (ownFolders.some((folder) => isInside(folder, config.backupDir))) {
    reader.fault(
      'SHELFTRACE_BACKUP_DIR',
      'must lie outside of the folders warehouse and spool of SHELFTRACE_DATA_DIR',
      config.backupDir
    )
  }
  if (!config.roles.includes('engine') && config.warehouseUrls === null) {
    reader.faults.push(
      'SHELFTRACE_WAREHOUSE_URL must be set where SHELFTRACE_ROLES has no engine: ' +
        'a warehouse in process belongs to the engine of its own machine'
    )
  }
}

function refuseCleartext(reader: ConfigReader, config: Config): void {
  if (/[\s[\]]/u.test(config.host)) {
    reader.fault(
      'SHELFTRACE_HOST',
      'must be an address or a name without blanks or brackets',
      config.host
    )
  } else if (!isLoopback(config.host) && config.tls === null && !config.trustProxy) {
    reader.fault(
      'SHELFTRACE_HOST',
      'must be a loopback address unless SHELFTRACE_TLS_CERT and SHELFTRACE_TLS_KEY are set, ' +
        'or SHELFTRACE_TRUST_PROXY=true says that a proxy in front speaks HTTPS: ' +
        'keys and purchases must not travel in the clear',
      config.host
    )
  }
  refuseClearWarehouse(reader, config)
}

function isInside(folder: string, path: string): boolean {
  return path === folder || path.startsWith(`${folder}/`)
}

function urlHost(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}
