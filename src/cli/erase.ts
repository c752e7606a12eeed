import { readFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { erasurePageSchema, erasureSchema } from '../contract/erasures.ts'
import { limitQuerySchema } from '../contract/fields.ts'
import { parsePositiveInt32 } from '../domain/ids.ts'
import { CliError, usageError } from './cli-error.ts'
import type { Command, CommandContext } from './context.ts'
import { listCommand } from './list.ts'
import { readAs } from './client.ts'

const readErasure = readAs(erasureSchema)

/** An id is never an argument: lists of processes and histories of shells show those. */
export const erase: Command = {
  name: 'erase',
  usage: 'PUBLISHER --user-id-file FILE|- | --user-logged-in-id-file FILE|-',
  summary: 'Erase a shopper, whose id is read from a file or from standard input (-)',
  options: {
    'user-id-file': { type: 'string' },
    'user-logged-in-id-file': { type: 'string' },
  },
  positionalCount: 1,
  run: async (context) => {
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
    const request = {
      publisherId,
      ...(typeof userPath === 'string' && { userId: await readId(context, userPath) }),
      ...(typeof loginPath === 'string' && { userLoggedInId: await readId(context, loginPath) }),
    }
    const body = Buffer.from(JSON.stringify(request))
    const answer = await context.client().call({ method: 'POST', path: '/erasures', body })
    const erasure = readErasure(answer)
    context.print(erasure, `Erasure ${erasure.id} is requested; \`erasures list\` tells its state.`)
    return 0
  },
}

/** One id; the end of its line is not part of it. */
async function readId({ terminal }: CommandContext, path: string): Promise<string> {
  const bytes = path === '-' ? await buffer(terminal.stdin) : await readIdFile(path)
  const text = bytes.toString('utf8').replace(/\r?\n$/u, '')
  if (text === '' || text.includes('\n')) {
    throw new CliError('The file of an id must hold exactly one line.')
  }
  return text
}

async function readIdFile(path: string): Promise<Buffer> {
  try {
    return await readFile(path)
  } catch (cause) {
    throw new CliError(`${path} cannot be read.`, { cause })
  }
}

export const erasuresList = listCommand({
  name: 'erasures list',
  summary: 'List the erasures and how far they are, newest first',
  path: '/erasures',
  query: limitQuerySchema,
  answer: erasurePageSchema,
  rows: 'erasures',
  empty: 'Nobody was erased.',
})
