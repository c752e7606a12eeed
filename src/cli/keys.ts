import { Type } from 'typebox'
import { keyListSchema, keyResponseSchema, scopes, type Scope } from '../contract/admin.ts'
import { parseInstant } from '../domain/instant.ts'
import { parsePositiveInt32 } from '../domain/ids.ts'
import { usageError, type Command, type CommandContext } from './command.ts'
import { listCommand } from './list.ts'

export const keysCreate: Command = {
  name: 'keys create',
  usage:
    '--name NAME --scopes a,b [--advertisers 1,2|all] [--publishers 10|all] [--expires INSTANT]',
  summary: `Make a key. Scopes: ${scopes.join(', ')}`,
  options: {
    name: { type: 'string' },
    scopes: { type: 'string' },
    advertisers: { type: 'string' },
    publishers: { type: 'string' },
    expires: { type: 'string' },
  },
  run: async (context) => {
    const json = {
      name: required(context, 'name'),
      scopes: parseScopes(required(context, 'scopes')),
      ...parsePartyIds(context, 'advertisers'),
      ...parsePartyIds(context, 'publishers'),
      ...parseExpiry(context.options['expires']),
    }
    const call = { method: 'POST', path: '/keys', json } as const
    const created = await context.call(keyResponseSchema, call)
    context.print(created, `id   ${created.id}\nkey  ${created.key}\nThe key is not shown again.`)
    return 0
  },
}

export const keysList = listCommand({
  name: 'keys list',
  summary: 'List the keys with their state, never the keys themselves',
  path: '/keys',
  answer: keyListSchema,
  rows: 'keys',
  empty: 'There are no keys besides the one in the configuration.',
})

export const keysRevoke: Command = {
  name: 'keys revoke',
  usage: 'ID',
  summary: 'Revoke a key, everywhere within 5 seconds; cannot be undone',
  positionalCount: 1,
  run: async (context) => {
    const [id = ''] = context.positionals
    const path = `/keys/${encodeURIComponent(id)}`
    await context.call(Type.Unknown(), { method: 'DELETE', path })
    context.print({ id, revoked: true }, `${id} is revoked.`)
    return 0
  },
}

function required({ options }: CommandContext, name: string): string {
  const value = options[name]
  if (typeof value === 'string' && value.trim() !== '') return value
  throw usageError(`--${name} is required. See "shelftrace help keys create".`)
}

function parseScopes(text: string): readonly Scope[] {
  return listOf(text).map((word) => {
    const scope = scopes.find((known) => known === word)
    if (scope === undefined) throw usageError(`--scopes must be among: ${scopes.join(', ')}`)
    return scope
  })
}

/** Empty if the option is not given: the server knows which scopes need it. */
function parsePartyIds(
  { options }: CommandContext,
  name: 'advertisers' | 'publishers'
): { readonly [Name in typeof name]?: readonly number[] | 'all' } {
  const text = options[name]
  if (typeof text !== 'string') return {}
  if (text === 'all') return { [name]: 'all' }
  const ids = listOf(text).map((word) => {
    const id = parsePositiveInt32(word)
    if (id === null) throw usageError(`--${name} must be "all" or ids such as 1,2`)
    return id
  })
  return { [name]: ids }
}

function parseExpiry(text: CommandContext['options'][string]): { readonly expiresAt?: string } {
  if (typeof text !== 'string') return {}
  if (parseInstant(text) === null) {
    throw usageError('--expires must be an instant such as 2027-01-01T00:00:00Z')
  }
  return { expiresAt: text }
}

function listOf(text: string): readonly string[] {
  return text.split(',').map((word) => word.trim())
}
