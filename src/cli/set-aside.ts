import {
  replayResultSchema,
  setAsidePageSchema,
  setAsideQuerySchema,
} from '../contract/set-aside.ts'
import { usageError } from './cli-error.ts'
import type { Command } from './context.ts'
import { listCommand } from './list.ts'
import { readAs } from './client.ts'

const readResult = readAs(replayResultSchema)

export const setAsideList = listCommand({
  name: 'set-aside list',
  summary: 'List the records that could not be shipped, with the reason',
  path: '/set-aside',
  query: setAsideQuerySchema,
  answer: setAsidePageSchema,
  rows: 'records',
  empty: 'Nothing is set aside.',
})

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
