import {
  replayResultSchema,
  setAsidePageSchema,
  setAsideQuerySchema,
} from '../contract/set-aside.ts'
import { usageError, type Run } from './command.ts'
import { listCommand } from './list.ts'
import { counted, formatCount } from './words.ts'

export const setAsideList = listCommand({
  path: '/set-aside',
  query: setAsideQuerySchema,
  answer: setAsidePageSchema,
  rows: 'records',
  empty: 'Nothing is set aside.',
})

export const setAsideReplay: Run = async (context) => {
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
      `${counted(replayed, 'record')} ${replayed === 1 ? 'is' : 'are'} shipped, ${formatCount(setAsideAgain)} ${setAsideAgain === 1 ? 'was' : 'were'} set aside again, ${formatCount(remaining)} ${remaining === 1 ? 'waits' : 'wait'}.`,
      ...(unknown > 0 ? ['Nothing waits under that key.'] : []),
    ].join('\n')
  )
  // A script must not take a record that was not shipped, or was not there, for done.
  return setAsideAgain + unknown === 0 ? 0 : 1
}
