import { auditActions, auditPageSchema } from '../contract/audit.ts'
import { pageLimits } from '../contract/catalog-pages.ts'
import { parseInstant } from '../contract/instant.ts'
import { usageError } from './cli-error.ts'
import type { Command, CommandContext } from './context.ts'
import { readAs } from './read-as.ts'
import { formatTable } from './table.ts'

const readPage = readAs(auditPageSchema)

export const audit: Command = {
  name: 'audit',
  usage: '[--from INSTANT --to INSTANT --action A --key-id ID --limit N --after CURSOR]',
  summary: `Show who changed what, newest first. Actions: ${auditActions.join(', ')}`,
  options: {
    from: { type: 'string' },
    to: { type: 'string' },
    action: { type: 'string' },
    'key-id': { type: 'string' },
    limit: { type: 'string' },
    after: { type: 'string' },
  },
  positionalCount: 0,
  run: async (context) => {
    const query = buildQuery(context)
    const path = query === '' ? '/audit' : `/audit?${query}`
    const page = readPage(await context.client().call({ method: 'GET', path }))
    const rows = page.records.map(({ at, keyName, keyId, action, subject, details }) => [
      at,
      keyName === '' ? keyId : `${keyName} (${keyId})`,
      action,
      subject,
      JSON.stringify(details),
    ])
    const table = formatTable(['AT', 'KEY', 'ACTION', 'SUBJECT', 'DETAILS'], rows)
    const more = page.next === undefined ? '' : `\nMore: --after ${page.next}`
    context.print(page, `${table}${more}`)
    return 0
  },
}

interface Rule {
  readonly isGood: (text: string) => boolean
  readonly rule: string
}

const instant: Rule = {
  isGood: (text) => parseInstant(text) !== null,
  rule: 'an instant such as 2026-03-01T00:00:00Z',
}

const limit: Rule = {
  isGood: (text) => /^[1-9]\d{0,3}$/.test(text) && Number(text) <= pageLimits.max,
  rule: `an integer from 1 to ${pageLimits.max}`,
}

function notBlank(rule: string): Rule {
  return { isGood: (text) => text.trim() !== '', rule }
}

function buildQuery({ options }: CommandContext): string {
  const query = new URLSearchParams()
  const add = (option: string, name: string, { isGood, rule }: Rule) => {
    const text = options[option]
    if (typeof text !== 'string') return
    if (!isGood(text)) throw usageError(`--${option} must be ${rule}`)
    query.set(name, text)
  }
  add('from', 'from', instant)
  add('to', 'to', instant)
  // A newer server may know more actions.
  add('action', 'action', notBlank('an action such as key.create'))
  add('key-id', 'keyId', notBlank('the id of a key'))
  add('limit', 'limit', limit)
  add('after', 'after', notBlank('the cursor that the page before printed'))
  return query.toString()
}
