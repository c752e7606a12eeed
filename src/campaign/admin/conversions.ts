import type { AuditTrail } from '../../access/audit-trail.ts'
import { answerJson, refuse, type Call, type HandlerTable } from '../../http/handler.ts'
import { parseVoidRequest, type VoidResponse } from '../../contract/explanation.ts'
import { parseJsonBody } from '../../contract/json.ts'
import { parsePositiveInt32 } from '../../domain/ids.ts'
import { isText } from '../../domain/text.ts'
import { assert } from '../../lib/assert.ts'
import type { PurchaseName } from '../../attribution/explain/explain.ts'
import type { AdminDeps } from './deps.ts'

type ConversionDeps = Pick<AdminDeps, 'explainPurchase' | 'voidDelivery'>

export function createConversionHandlers(deps: ConversionDeps, audit: AuditTrail): HandlerTable {
  return {
    explainConversion: async (call) => {
      const name = purchaseOf(call)
      const explanation = name === null ? null : await deps.explainPurchase(name)
      return explanation === null ? noPurchase : answerJson(200, explanation)
    },
    voidDelivery: (call) => voidOne(deps, audit, call),
  }
}

const noPurchase = refuse(404, ['Nothing is known of such a purchase.'])

async function voidOne(
  { explainPurchase, voidDelivery }: ConversionDeps,
  audit: AuditTrail,
  call: Call
) {
  const name = purchaseOf(call)
  const known = name === null ? null : await explainPurchase(name)
  if (name === null || known === null) return noPurchase
  const json = parseJsonBody(call.body)
  const parsed = json.ok ? parseVoidRequest(json.value) : json
  if (!parsed.ok) return refuse(422, parsed.messages)
  const { deliveryId, reason } = parsed.value
  if (reason.trim() === '') return refuse(422, ['/reason must say why in visible characters'])
  const delivery = known.deliveries.find((one) => one.deliveryId === deliveryId)
  if (delivery === undefined) {
    return refuse(422, ['/deliveryId must be the id of a delivery of this purchase'])
  }
  const { standing } = delivery
  if (standing === 'untrusted-source' || standing === 'too-late') {
    return refuse(422, [`/deliveryId must be a delivery that could count; this one is ${standing}`])
  }

  const result = await voidDelivery({ ...name, deliveryId })
  if (result.kind === 'final') {
    return refuse(422, [
      `/deliveryId must be of a purchase that stands in no final day of any market; days before ${result.finalBefore} are final`,
    ])
  }
  const now = await explainPurchase(name)
  const voidedAt = now?.deliveries.find((one) => one.deliveryId === deliveryId)?.voidedAt
  assert(now !== null && voidedAt !== undefined, 'what is voided shows as void')
  await audit.record({
    key: call.key,
    action: 'delivery.void',
    subject: deliveryId,
    details: { ...name, reason, countedDeliveryId: now.countedDeliveryId },
  })
  const answer: VoidResponse = { deliveryId, voidedAt, countedDeliveryId: now.countedDeliveryId }
  return answerJson(200, answer)
}

/** Null for what cannot name a purchase. */
function purchaseOf({ pathParameters }: Call): PurchaseName | null {
  const publisherId = parsePositiveInt32(pathParameters['publisherId'] ?? '')
  const transactionId = pathParameters['transactionId'] ?? ''
  return publisherId === null || !isText(transactionId) ? null : { publisherId, transactionId }
}
