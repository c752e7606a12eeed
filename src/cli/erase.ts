import { isUtf8 } from 'node:buffer'
import { erasurePageSchema, requestedErasureSchema } from '../contract/erasures.ts'
import { limitQuerySchema } from '../contract/fields.ts'
import { parsePositiveInt32 } from '../domain/ids.ts'
import { foreignFault } from '../lib/foreign-file.ts'
import { CliError, usageError, type Run, type CommandContext } from './command.ts'
import { readInput } from './input.ts'
import { listCommand } from './list.ts'

/** An id is never an argument, since the list of processes and the history of the shell show those. */
export const erase: Run = async (context) => {
  const { positionals, options } = context
  const publisherId = parsePositiveInt32(positionals[0] ?? '')
  if (publisherId === null) throw usageError('PUBLISHER must be the id of a publisher')
  const userPath = options['user-id-file']
  const loginPath = options['user-logged-in-id-file']
  if (typeof userPath !== 'string' && typeof loginPath !== 'string') {
    throw usageError('Give --user-id-file, --user-logged-in-id-file or both')
  }
  if (userPath === '-' && loginPath === '-') {
    throw usageError('Only one of the two ids can come from standard input')
  }
  const json = {
    publisherId,
    ...(typeof userPath === 'string' && {
      userId: await readId(context, 'user-id-file', userPath),
    }),
    ...(typeof loginPath === 'string' && {
      userLoggedInId: await readId(context, 'user-logged-in-id-file', loginPath),
    }),
  }
  const erasure = await context.call(requestedErasureSchema, {
    method: 'POST',
    path: '/erasures',
    json,
  })
  // A node of the version before does not say.
  const unknown = (erasure.notStored ?? []).map((name) =>
    name === 'userId'
      ? 'Nothing is stored under this user id now.'
      : 'Nothing is stored under this id of a logged-in person now.'
  )
  const check = unknown.length === 0 ? [] : [...unknown, idsCount]
  context.print(
    erasure,
    [`Erasure ${erasure.id} is requested; \`erasures list\` shows its state.`, ...check].join('\n')
  )
  return 0
}

const idsCount =
  'If something should be, check the publisher and the id: every character counts, quotes and blanks too.'

/**
 * One id. A byte order mark and the end of its line are not part of it; blanks are, as in an id that was delivered.
 * Bytes that are not UTF-8 are refused: decoding them anyway would give the id of another shopper.
 */
async function readId(context: CommandContext, option: string, path: string): Promise<string> {
  const bytes = await readInput(context, path)
  const fault = foreignFault(bytes) ?? (isUtf8(bytes) ? null : 'must be valid UTF-8')
  if (fault !== null) throw new CliError(`What --${option} names ${fault}.`)
  const text = new TextDecoder().decode(bytes).replace(/(?:\r\n?|\n)$/u, '')
  if (text === '' || /[\r\n]/u.test(text)) {
    throw new CliError(
      `${path === '-' ? 'The standard input' : path} must hold one id, on one line.`
    )
  }
  return text
}

export const erasuresList = listCommand({
  path: '/erasures',
  query: limitQuerySchema,
  answer: erasurePageSchema,
  rows: 'erasures',
  empty: 'No shopper was erased.',
})
