import type { AuditTrail } from '../../access/audit-trail.ts'
import type { PurchaseName } from '../../attribution/explain/explain.ts'
import type { VoidResponse } from '../../contract/explanation.ts'
import { upkeepOperations as operations } from '../../contract/upkeep-operations.ts'
import { assert } from '../../lib/assert.ts'
import { answerJson, refuse, type HandlerTable } from '../../http/handler.ts'
import { handleAt } from '../handle.ts'
import type { AdminDeps } from './deps.ts'

type ConversionDeps = Pick<AdminDeps, 'explainPurchase' | 'voidDelivery'>

export function createConversionHandlers(
  { explainPurchase, voidDelivery }: ConversionDeps,
  audit: AuditTrail
): HandlerTable {
  const purchase = {
    find: (name: PurchaseName) => explainPurchase(name),
    notFound: 'Nothing is known of such a purchase.',
  }
  return {
    ...handleAt(operations.explainConversion, purchase, (_call, explanation) =>
      Promise.resolve(answerJson(200, explanation))
    ),
    ...handleAt(operations.voidDelivery, purchase, async ({ key, path, body }, known) => {
      const { deliveryId, reason } = body
      if (reason.trim() === '') return refuse(422, ['/reason must say why in visible characters'])
      const delivery = known.deliveries.find((one) => one.deliveryId === deliveryId)
      if (delivery === undefined) {
        return refuse(422, ['/deliveryId must be the id of a delivery of this purchase'])
      }
      const { standing } = delivery
      if (standing === 'untrusted-source' || standing === 'too-late') {
        return refuse(422, [
          `/deliveryId must be a delivery that could count; this one is ${standing}`,
        ])
      }

      const result = await voidDelivery({ ...path, deliveryId })
      if (result.kind === 'final') {
        return refuse(422, [
          `/deliveryId must be of a purchase that stands in no final day of any market; days before ${result.finalBefore} are final`,
        ])
      }
      const now = await explainPurchase(path)
      const voidedAt = now?.deliveries.find((one) => one.deliveryId === deliveryId)?.voidedAt
      assert(now !== null && voidedAt !== undefined, 'what is voided shows as void')
      await audit.record({
        key,
        action: 'delivery.void',
        subject: deliveryId,
        details: { ...path, reason, countedDeliveryId: now.countedDeliveryId },
      })
      const answer: VoidResponse = {
        deliveryId,
        voidedAt,
        countedDeliveryId: now.countedDeliveryId,
      }
      return answerJson(200, answer)
    }),
  }
}
