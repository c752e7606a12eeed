import { parsePositiveInt32 } from '../domain/ids.ts'
import { usageError } from './cli-error.ts'
import type { CommandContext } from './context.ts'

/** The id given with `--market`. */
export function requireMarket({ options }: Pick<CommandContext, 'options'>): number {
  const text = options['market']
  const id = typeof text === 'string' ? parsePositiveInt32(text) : null
  if (id === null) throw usageError('--market must be given, the id of a market such as 1.')
  return id
}
