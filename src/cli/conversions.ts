import {
  explanationSchema,
  unvoidResponseSchema,
  voidResponseSchema,
} from '../contract/explanation.ts'
import { parsePositiveInt32 } from '../domain/ids.ts'
import { usageError, type Run, type CommandContext } from './command.ts'
import { formatExplanation } from './explanation-text.ts'

export const explain: Run = async (context) => {
  const call = { method: 'GET', path: pathOf(context) } as const
  const explanation = await context.call(explanationSchema, call)
  context.print(explanation, formatExplanation(explanation, context.layout))
  return 0
}

export const voidDelivery: Run = async (context) => {
  const call = callOf(context, { verb: 'void', reasonSays: 'why the delivery does not count' })
  const result = await context.call(voidResponseSchema, call)
  context.print(
    result,
    `Delivery ${result.deliveryId} is void since ${result.voidedAt}. ${countedNow(result)}`
  )
  return 0
}

export const unvoidDelivery: Run = async (context) => {
  const call = callOf(context, { verb: 'unvoid', reasonSays: 'why the delivery may count' })
  const result = await context.call(unvoidResponseSchema, call)
  context.print(result, `Delivery ${result.deliveryId} is not void any more. ${countedNow(result)}`)
  return 0
}

function callOf(
  context: CommandContext,
  { verb, reasonSays }: { readonly verb: 'void' | 'unvoid'; readonly reasonSays: string }
) {
  const { reason } = context.options
  if (typeof reason !== 'string' || reason.trim() === '') {
    throw usageError(`--reason must say ${reasonSays}; the audit keeps it`)
  }
  const deliveryId = (context.positionals[2] ?? '').toLowerCase()
  const path = `${pathOf(context)}/${verb}`
  return { method: 'POST', path, json: { deliveryId, reason } } as const
}

/** Of the purchase, or of the return that the delivery is one of. */
function countedNow({ countedDeliveryId }: { readonly countedDeliveryId: string | null }): string {
  return countedDeliveryId === null
    ? 'None of its deliveries counts now.'
    : `Delivery ${countedDeliveryId} counts now.`
}

function pathOf({ positionals }: CommandContext): string {
  const [publisher = '', transaction = ''] = positionals
  if (parsePositiveInt32(publisher) === null) {
    throw usageError('PUBLISHER must be the id of a publisher such as 10')
  }
  // In an address these mean the folder itself and the one above.
  if (transaction === '' || transaction === '.' || transaction === '..') {
    throw usageError('TRANSACTION must be the id of a transaction, not empty, "." or ".."')
  }
  return `/conversions/${publisher}/${encodeURIComponent(transaction)}`
}
