import { replayResultSchema, setAsidePageSchema } from '../contract/set-aside.ts'
import { usageError } from './cli-error.ts'
import type { Command } from './context.ts'
import { readPageLimit } from './page-limit.ts'
import { readAs } from './read-as.ts'
import { formatTable } from './table.ts'

const readPage = readAs(setAsidePageSchema)
const readResult = readAs(replayResultSchema)

export const setAsideList: Command = {
  name: 'set-aside list',
  usage: '[--limit N --after CURSOR]',
  summary: 'List the records that could not be shipped, with the reason',
  options: { limit: { type: 'string' }, after: { type: 'string' } },
  positionalCount: 0,
  run: async (context) => {
    const limit = readPageLimit(context.options)
    const { after } = context.options
    const query = new URLSearchParams()
    if (limit !== null) query.set('limit', limit)
    if (typeof after === 'string') query.set('after', after)
    const path = query.size === 0 ? '/set-aside' : `/set-aside?${query.toString()}`
    const page = readPage(await context.client().call({ method: 'GET', path }))
    const rows = page.records.map(({ key, setAsideAt, type, receivedAt, reason }) => [
      key,
      setAsideAt,
      type,
      receivedAt ?? '-',
      reason,
    ])
    const table = formatTable(['KEY', 'SET ASIDE', 'TYPE', 'RECEIVED', 'REASON'], rows)
    const more = page.next === undefined ? '' : `\nMore: --after ${page.next}`
    context.print(page, page.records.length === 0 ? 'Nothing is set aside.' : `${table}${more}`)
    return 0
  },
}

export const setAsideReplay: Command = {
  name: 'set-aside replay',
  usage: '--all | --key KEY',
  summary: 'Ship records once more that were set aside, once the cause is mended',
  options: { all: { type: 'boolean' }, key: { type: 'string' } },
  positionalCount: 0,
  run: async (context) => {
    const { all, key } = context.options
    const isAll = all === true
    if (isAll === (typeof key === 'string')) throw usageError('Give either --all or --key KEY')
    const body = Buffer.from(JSON.stringify(isAll ? { all: true } : { keys: [key] }))
    const answer = await context.client().call({ method: 'POST', path: '/set-aside/replay', body })
    const result = readResult(answer)
    const { replayed, setAsideAgain, unknown, remaining } = result
    context.print(
      result,
      [
        `${replayed} records are shipped, ${setAsideAgain} were set aside again, ${remaining} wait.`,
        ...(unknown > 0 ? ['Nothing waits under that key.'] : []),
      ].join('\n')
    )
    // What could not be shipped, or was not there, must not look done to a script.
    return setAsideAgain + unknown === 0 ? 0 : 1
  },
}
