import type { Command } from '../command.ts'

/** Those of docs/configuration.md, in its order. */
const serveVariables = [
  'SHELFTRACE_DATA_DIR             data folder (./data)',
  'SHELFTRACE_HOST                 address of both ports (127.0.0.1)',
  'SHELFTRACE_TRACKING_PORT        public port for events (8080)',
  'SHELFTRACE_CAMPAIGN_PORT        reports, admin API, dashboard (8081)',
  'SHELFTRACE_TRACKERS             tracker processes (processor cores - 1)',
  'SHELFTRACE_ROLES                tracker, engine or both (tracker,engine)',
  'SHELFTRACE_WAREHOUSE_URL        ClickHouse server (none: in process)',
  'SHELFTRACE_WAREHOUSE_QUORUM     replicas that must have a row (auto)',
  'SHELFTRACE_TRACKING_URL         public address that links begin with',
  'SHELFTRACE_DATACENTER_NETWORKS  file of networks whose events do not count',
  'SHELFTRACE_TLS_CERT             certificate chain (PEM), for both ports',
  'SHELFTRACE_TLS_KEY              its private key (PEM)',
  'SHELFTRACE_TRUST_PROXY          true: a proxy in front speaks HTTPS (false)',
  "SHELFTRACE_TRUSTED_USER_HEADER  header of a proxy's sign-on (none)",
  'SHELFTRACE_TRUSTED_USER_PROXIES addresses of that proxy',
  'SHELFTRACE_SIGN_OUT_URL         where people sign out of it (none)',
  'SHELFTRACE_TRUST_WAREHOUSE_NETWORK',
  '                                true: http:// to the ClickHouse server (false)',
  'SHELFTRACE_REQUIRE_DELIVERY_KEY true: deliveries count with a key only (false)',
  'SHELFTRACE_REQUESTS_PER_MINUTE  per key and node (600)',
  'SHELFTRACE_REPORTS_AT_ONCE      per key and node (4)',
  'SHELFTRACE_SETTLE_MS            how long a purchase waits for events (2000)',
  'SHELFTRACE_SPOOL_BYTES_MAX      largest spool (10 GiB)',
  'SHELFTRACE_DRAIN_MS             how long SIGTERM ships what waits (0: not)',
  'SHELFTRACE_DRAIN_NOTICE_MS      how long it still takes events then (10000)',
  'SHELFTRACE_RETENTION_DAYS       how long events are kept (400)',
  'SHELFTRACE_LOG_LEVEL            trace to fatal, silent (info)',
  'SHELFTRACE_BACKUP_DIR           where backups are written (data/backups)',
  'SHELFTRACE_SECRETS_FILE         secrets (data/secrets.json)',
  'SHELFTRACE_ALERT_WEBHOOK        address that is told what goes wrong (none)',
  'SHELFTRACE_ALERT_WEBHOOK_SECRET secret that signs it (whsec_...)',
  'SHELFTRACE_ALERT_WEBHOOK_FILE   file that holds the address',
  'SHELFTRACE_ALERT_WEBHOOK_SECRET_FILE',
  '                                file that holds the secret',
  "SHELFTRACE_ADMIN_KEY            operator's key (made at the first start)",
  'SHELFTRACE_ADMIN_KEY_FILE       file that holds it',
  'SHELFTRACE_WAREHOUSE_URL_FILE   file that holds the address of the server',
]

export const runningCommands: readonly Command[] = [
  {
    name: 'serve',
    summary: 'Run the service: trackers, engine and warehouse',
    details:
      'Runs until it gets SIGINT (Ctrl-C) or SIGTERM, or is drained. Settings are variables of the environment; an unknown or ' +
      'invalid one ends the start. The first start in an empty data folder makes a new installation with secrets ' +
      'of its own.',
    sections: [
      {
        title: 'Variables, with their defaults (details: docs/configuration.md)',
        lines: serveVariables,
      },
    ],
    examples: ['shelftrace serve', 'SHELFTRACE_DATA_DIR=/var/lib/shelftrace shelftrace serve'],
    isLocal: true,
    outputIsLog: true,
    // No other command needs the service.
    load: async () => {
      const { version } = await import('../../ops/version.ts')
      return async ({ terminal, write }) => {
        // The service takes a moment to be loaded.
        await write(`Shelftrace ${version} starts, which takes a few seconds.\n`)
        const { runSupervisor } = await import('../../supervisor.ts')
        return await runSupervisor({ ...terminal.environment })
      }
    },
  },
  {
    name: 'drain',
    summary: 'Ship what waits on this machine, and end the node',
    details:
      'For a node that goes for good. It says that it is not ready, takes events for SHELFTRACE_DRAIN_NOTICE_MS, closes ' +
      'its tracking port, ships its spool and ends. Fails with the number of events that are left if that takes longer ' +
      'than SHELFTRACE_DRAIN_MS of the node (10 minutes where that is 0). Run it where the node runs, as its user.',
    examples: ['SHELFTRACE_DATA_DIR=/var/lib/shelftrace shelftrace drain'],
    isLocal: true,
    load: async () => (await import('../drain.ts')).drain,
  },
  {
    name: 'status',
    summary: 'Show what waits, what is sealed, and what does not count',
    details:
      'Lines that begin with ! are out of the ordinary. Counts of events are those of the last 30 days.',
    examples: ['shelftrace status', 'shelftrace status --json'],
    load: async () => (await import('../status.ts')).status,
  },
  {
    name: 'backup',
    summary: 'Back up the running service',
    details:
      'Writes a folder below SHELFTRACE_BACKUP_DIR of the service and waits until it is complete. Secrets are not ' +
      'in it: keep a copy of secrets.json.',
    operands: [{ name: 'NAME', isOptional: true, field: 'name' }],
    examples: ['shelftrace backup before-upgrade'],
    load: async () => (await import('../backup.ts')).backup,
  },
  {
    name: 'backup list',
    summary: 'List the backups and their state',
    examples: ['shelftrace backup list'],
    load: async () => (await import('../backup.ts')).backupList,
  },
  {
    name: 'restore',
    summary: 'Restore a backup into an empty data folder',
    details:
      'The data folder is that of the variables of "serve". It holds only secrets.json, and no service runs there.',
    operands: [{ name: 'FOLDER', isFile: true }],
    options: {
      unsigned: { help: 'accept a backup of version 0.1.0, which has no proof of origin' },
    },
    examples: ['SHELFTRACE_DATA_DIR=./data shelftrace restore /mnt/backups/before-upgrade'],
    isLocal: true,
    load: async () => (await import('../backup.ts')).restore,
  },
  {
    name: 'secrets create',
    summary: 'Make the secrets of nodes that get them mounted',
    details:
      'Writes FOLDER/secrets.json and FOLDER/admin-key; a folder that has one of them is refused. A node that may write ' +
      'its own data folder makes its secrets by itself and needs no such command.',
    operands: [{ name: 'FOLDER', isFile: true }],
    examples: ['shelftrace secrets create ./new-secrets'],
    isLocal: true,
    load: async () => (await import('../secrets.ts')).createSecrets,
  },
  {
    name: 'warehouse copy',
    summary: 'Copy the warehouse in process into a ClickHouse server',
    details:
      'For an installation that outgrows one machine. The data folder is that of the variables of "serve"; no service ' +
      'runs there. The server is that of SHELFTRACE_WAREHOUSE_URL, with an empty database. Every table is compared ' +
      'afterwards, and the folder stays as it was.',
    examples: ['SHELFTRACE_WAREHOUSE_URL_FILE=./server-url shelftrace warehouse copy'],
    isLocal: true,
    load: async () => (await import('../copy-warehouse.ts')).copyWarehouse,
  },
]
