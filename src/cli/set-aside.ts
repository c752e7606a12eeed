import {
  replayResultSchema,
  setAsidePageSchema,
  setAsideQuerySchema,
} from '../contract/set-aside.ts'
import { usageError, type Command } from './command.ts'
import { listCommand } from './list.ts'

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
  summary: 'Ship records that were set aside, once their cause is fixed',
  options: { all: { type: 'boolean' }, key: { type: 'string' } },
  run: async (context) => {
    const { all, key } = context.options
    const isAll = all === true
    if (isAll === (typeof key === 'string')) throw usageError('Give either --all or --key KEY')
    const json = isAll ? { all: true } : { keys: [key] }
    const call = { method: 'POST', path: '/set-aside/replay', json } as const
    const result = await context.call(replayResultSchema, call)
    const { replayed, setAsideAgain, unknown, remaining } = result
    context.print(
      result,
      [
        `${replayed} records are shipped, ${setAsideAgain} were set aside again, ${remaining} wait.`,
        ...(unknown > 0 ? ['Nothing waits under that key.'] : []),
      ].join('\n')
    )
    // A script must not take a record that was not shipped, or was not there, for done.
    return setAsideAgain + unknown === 0 ? 0 : 1
  },
}
