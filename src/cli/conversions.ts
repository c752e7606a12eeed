import { explanationSchema, voidResponseSchema } from '../contract/explanation.ts'
import { parsePositiveInt32 } from '../domain/ids.ts'
import { usageError, type Command, type CommandContext } from './command.ts'
import { formatExplanation } from './explanation-text.ts'

export const explain: Command = {
  name: 'explain',
  usage: 'PUBLISHER TRANSACTION',
  summary:
    'Explain the attribution of a purchase: its deliveries, who won each line, and why others lost',
  positionalCount: 2,
  run: async (context) => {
    const call = { method: 'GET', path: pathOf(context) } as const
    const explanation = await context.call(explanationSchema, call)
    context.print(explanation, formatExplanation(explanation))
    return 0
  },
}

export const voidDelivery: Command = {
  name: 'void',
  usage: 'PUBLISHER TRANSACTION DELIVERY --reason TEXT',
  summary: 'Void a delivery of a purchase, for good: the next one counts instead',
  options: { reason: { type: 'string' } },
  positionalCount: 3,
  run: async (context) => {
    const { reason } = context.options
    if (typeof reason !== 'string' || reason.trim() === '') {
      throw usageError('--reason must say why the delivery does not count; the audit keeps it')
    }
    const deliveryId = context.positionals[2] ?? ''
    const path = `${pathOf(context)}/void`
    const call = { method: 'POST', path, json: { deliveryId, reason } } as const
    const result = await context.call(voidResponseSchema, call)
    const counted =
      result.countedDeliveryId === null
        ? 'No delivery of the purchase counts now.'
        : `Delivery ${result.countedDeliveryId} counts now.`
    context.print(
      result,
      `Delivery ${result.deliveryId} is void since ${result.voidedAt}. ${counted}`
    )
    return 0
  },
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
