import { Type } from 'typebox'
import { keyListSchema, keyResponseSchema, scopes, type Scope } from '../contract/admin.ts'
import { invitationHours, invitationResponseSchema } from '../contract/invitations.ts'
import { personResponseSchema } from '../contract/sign-on.ts'
import { parseInstant } from '../domain/instant.ts'
import { parsePositiveInt32 } from '../domain/ids.ts'
import { CliError, usageError, type Run, type CommandContext } from './command.ts'
import { listCommand } from './list.ts'

export const keysCreate: Run = async (context) => {
  const call = { method: 'POST', path: '/keys', json: wishOf(context) } as const
  const created = await context.call(keyResponseSchema, call)
  const text = `id   ${created.id}\nkey  ${created.key}\nThe key is not shown again.`
  if (!(await context.tryPrint(created, text))) throw unseen('key', created.id)
  return 0
}

export const keysInvite: Run = async (context) => {
  const json = { ...wishOf(context), ...parseHours(context) }
  const call = { method: 'POST', path: '/invitations', json } as const
  const made = await context.call(invitationResponseSchema, call)
  const { address, ...invitation } = made
  const { href } = context.serverUrl()
  const link = `${href.endsWith('/') ? href : `${href}/`}${address}`
  const text = [
    `id          ${made.id}`,
    `link        ${link}`,
    `expires at  ${made.expiresAt}`,
    'The link works once and is not shown again.',
  ]
  if (!(await context.tryPrint({ ...invitation, link }, text.join('\n')))) {
    throw unseen('link', made.id)
  }
  return 0
}

/** What is shown once was lost on its way, as on a full disk, and yet it works. */
function unseen(what: 'key' | 'link', id: string): CliError {
  return new CliError(
    `The ${what} was made and could not be shown. Revoke it ("shelftrace keys revoke ${id}") and make another.`
  )
}

export const keysAdmit: Run = async (context) => {
  const person = required(context, 'email')
  const json = { person, ...rightsOf(context), ...parsePartyIds(context, 'publishers') }
  const admitted = await context.call(personResponseSchema, {
    method: 'POST',
    path: '/people',
    json,
  })
  context.print(admitted, `id   ${admitted.id}\n${person} has access by sign-on.`)
  return 0
}

export const keysList = listCommand({
  path: '/keys',
  answer: keyListSchema,
  rows: 'keys',
  empty: "There are no keys besides the operator's admin key.",
})

export const keysRevoke: Run = async (context) => {
  const [id = ''] = context.positionals
  const since = parseInstantOption(context, 'compromised-since')
  const query = since === null ? '' : `?compromisedSince=${encodeURIComponent(since)}`
  const path = `/keys/${encodeURIComponent(id)}${query}`
  await context.call(Type.Unknown(), { method: 'DELETE', path })
  const inForce = since === null ? null : await readCompromisedSince(context, id)
  const compromised = inForce === null ? {} : { compromisedSince: inForce }
  const told = since === null ? '' : compromisedText(since, inForce)
  context.print({ id, revoked: true, ...compromised }, `${id} is revoked.${told}`)
  return 0
}

/** The instant that is in force, which need not be the one that was just given. */
async function readCompromisedSince(context: CommandContext, id: string): Promise<string | null> {
  const call = { method: 'GET', path: '/keys', waitsForLimit: true } as const
  const { keys } = await context.call(keyListSchema, call).catch((cause: unknown) => {
    const why = cause instanceof CliError ? ` ${cause.message}` : ''
    throw new CliError(
      `${id} is revoked. Since when its deliveries do not count could not be read.${why}`,
      { cause }
    )
  })
  return keys.find((key) => key.id === id)?.compromisedSince ?? null
}

function compromisedText(given: string, inForce: string | null): string {
  if (inForce === null) return ' Deliveries by it count that were received before it was revoked.'
  const isGiven = Date.parse(inForce) === Date.parse(given)
  const why = isGiven ? '' : ', as was told before: that instant can only be moved back'
  return ` No delivery counts by it that was received since ${inForce}${why}.`
}

function wishOf(context: CommandContext) {
  return {
    name: nameOf(context),
    ...rightsOf(context),
    ...parsePublishers(context),
  }
}

function rightsOf(context: CommandContext) {
  return {
    scopes: parseScopes(required(context, 'scopes')),
    ...parsePartyIds(context, 'advertisers'),
    ...parseExpiry(context),
  }
}

function parseHours({ options }: CommandContext): { readonly validForHours?: number } {
  const text = options['valid-for-hours']
  if (typeof text !== 'string') return {}
  const hours = /^\d{1,3}$/.test(text) ? Number(text) : 0
  if (hours >= 1 && hours <= invitationHours.max) return { validForHours: hours }
  throw usageError(`--valid-for-hours must be a whole number from 1 to ${invitationHours.max}`)
}

/** A key of one publisher needs no name of its own. */
function nameOf(context: CommandContext): string {
  const { name, publisher } = context.options
  if (name === undefined && typeof publisher === 'string') return `Publisher ${publisher.trim()}`
  return required(context, 'name')
}

function parsePublishers(context: CommandContext): {
  readonly publishers?: readonly number[] | 'all'
} {
  const { publisher } = context.options
  if (typeof publisher !== 'string') return parsePartyIds(context, 'publishers')
  if (context.options['publishers'] !== undefined) {
    throw usageError('--publisher and --publishers cannot be used together.')
  }
  const id = parsePositiveInt32(publisher.trim())
  if (id === null) throw usageError('--publisher must be the id of a publisher, such as 10.')
  return { publishers: [id] }
}

function required(context: CommandContext, name: string): string {
  const value = context.options[name]
  if (typeof value === 'string' && value.trim() !== '') return value
  throw usageError(`--${name} is required. See "shelftrace help ${context.command}".`)
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

function parseExpiry(context: CommandContext): { readonly expiresAt?: string } {
  const expiresAt = parseInstantOption(context, 'expires')
  return expiresAt === null ? {} : { expiresAt }
}

/** Null if the option is not given. */
function parseInstantOption({ options }: CommandContext, name: string): string | null {
  const text = options[name]
  if (typeof text !== 'string') return null
  if (parseInstant(text) === null) {
    throw usageError(`--${name} must be an instant such as 2031-01-01T00:00:00Z`)
  }
  return text
}

function listOf(text: string): readonly string[] {
  return text.split(',').map((word) => word.trim())
}
