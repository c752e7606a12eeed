import type { Scope } from '../../contract/admin.ts'
import type { AuditAction } from '../../contract/audit.ts'
import type { Command, Options } from '../command.ts'
import { afterOption, limitOption } from './paging.ts'

/** Those of the contract, which takes longer to load than all of the help. */
const scopes = [
  'report:read',
  'asset:write',
  'site:read',
  'link:mint',
  'events:write',
  'metrics:read',
  'intake:read',
  'delivery:write',
  'admin',
] as const satisfies readonly Scope[]

const auditActions = [
  'asset.attach',
  'backup.start',
  'catalog.put',
  'delivery.unvoid',
  'delivery.void',
  'erasure.request',
  'events.backfill',
  'judgement.done',
  'judgement.request',
  'key.accept',
  'key.admit',
  'key.create',
  'key.invite',
  'key.revoke',
  'links.mint',
  'products.put',
  'rates.put',
  'rebuild.request',
  'set-aside.replay',
] as const satisfies readonly AuditAction[]

const range: Options = {
  from: { value: 'INSTANT', help: 'the first instant, such as 2026-03-01T00:00:00Z' },
  to: { value: 'INSTANT', help: 'the first instant after the range' },
}

const rights: Options = {
  scopes: {
    value: 'SCOPE,...',
    isRequired: true,
    choices: scopes,
    isList: true,
    help: 'what the key may do',
  },
  advertisers: { value: 'ID,...|all', help: 'the advertisers that it may act for' },
  publishers: { value: 'ID,...|all', help: 'the publishers that it may act for' },
  expires: {
    value: 'INSTANT',
    field: 'expiresAt',
    help: 'when it ends, such as 2031-01-01T00:00:00Z (default: never)',
  },
}

const wish: Options = {
  ...rights,
  name: { value: 'NAME', help: 'who holds it; needed unless --publisher is given' },
  publisher: { value: 'ID', help: 'the publisher that it is for' },
}

export const accessCommands: readonly Command[] = [
  {
    name: 'keys create',
    summary: 'Make a key; it is shown once',
    details:
      'report:read, asset:write, site:read and link:mint need --advertisers; delivery:write and intake:read need ' +
      '--publishers or --publisher.',
    options: wish,
    examples: [
      'shelftrace keys create --name Acme --advertisers 1 --scopes report:read',
      'shelftrace keys create --publisher 10 --scopes delivery:write,intake:read',
    ],
    load: async () => (await import('../keys.ts')).keysCreate,
  },
  {
    name: 'keys invite',
    summary: 'Make a link for a person, who gets a key by opening it',
    details:
      'Nobody else ever sees that key. The link opens the dashboard, works once, and is listed and revoked like a ' +
      'key until then.',
    options: {
      ...wish,
      'valid-for-hours': {
        value: 'N',
        help: 'how long the link can be opened, 1 to 720 hours (default 72)',
      },
    },
    examples: ['shelftrace keys invite --name Anna --advertisers 1 --scopes report:read'],
    load: async () => (await import('../keys.ts')).keysInvite,
  },
  {
    name: 'keys admit',
    summary: 'Give a person access by sign-on, without a key',
    details:
      'For services behind a proxy that signs people in (SHELFTRACE_TRUSTED_USER_HEADER). The access is listed and ' +
      'revoked like a key.',
    options: {
      email: {
        value: 'ADDRESS',
        field: 'person',
        isRequired: true,
        help: 'the e-mail address, as the sign-on names the person',
      },
      ...rights,
    },
    examples: ['shelftrace keys admit --email ann@a.test --advertisers 1 --scopes report:read'],
    load: async () => (await import('../keys.ts')).keysAdmit,
  },
  {
    name: 'keys list',
    summary: 'List the keys and their state, never the keys themselves',
    examples: ['shelftrace keys list'],
    load: async () => (await import('../keys.ts')).keysList,
  },
  {
    name: 'keys revoke',
    summary: 'Revoke a key, everywhere within 5 seconds',
    details: 'It cannot be undone.',
    operands: [{ name: 'ID', field: 'id' }],
    options: {
      'compromised-since': {
        value: 'INSTANT',
        help: 'since when others may have known it: no delivery by it counts that was received since',
      },
    },
    examples: [
      'shelftrace keys revoke key_1a2b',
      'shelftrace keys revoke key_1a2b --compromised-since 2026-03-01T00:00:00Z',
    ],
    load: async () => (await import('../keys.ts')).keysRevoke,
  },
  {
    name: 'audit',
    summary: 'Show who changed what, newest first',
    options: {
      ...range,
      action: { value: 'ACTION', choices: auditActions, help: 'only changes of this kind' },
      'key-id': { value: 'ID', help: 'only changes by this key' },
      after: afterOption,
      limit: limitOption,
    },
    examples: ['shelftrace audit --from 2026-03-01T00:00:00Z --action key.create'],
    load: async () => (await import('../lists.ts')).audit,
  },
  {
    name: 'audit export',
    summary: 'Print the audit as NDJSON, with the chain of hashes',
    details: 'Oldest first.',
    options: range,
    examples: ['shelftrace audit export > audit.ndjson'],
    load: async () => (await import('../audit.ts')).auditExport,
  },
  {
    name: 'audit verify',
    summary: 'Check the chain of hashes of the service, or of an export',
    operands: [{ name: 'FILE|-', isOptional: true, isFile: true }],
    sections: [{ title: 'File', lines: ['NDJSON, as "shelftrace audit export" prints it.'] }],
    options: {
      head: {
        value: 'HEAD',
        isRepeatable: true,
        help: 'a head that was kept elsewhere, as this command prints it',
      },
      part: { help: 'the file is of a range, so its beginning proves nothing' },
    },
    examples: [
      'shelftrace audit verify',
      'shelftrace audit verify audit.ndjson',
      'shelftrace audit export --from 2026-03-01T00:00:00Z |',
      '  shelftrace audit verify - --part',
    ],
    load: async () => (await import('../audit.ts')).auditVerify,
  },
]
