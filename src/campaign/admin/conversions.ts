import type { AuditTrail } from '../../access/audit-trail.ts'
import type { PurchaseName } from '../../attribution/explain/explain.ts'
import type { Explanation } from '../../contract/explanation.ts'
import { upkeepOperations as operations } from '../../contract/upkeep-operations.ts'
import { assert } from '../../lib/assert.ts'
import { answerJson, refuse, type HandlerTable } from '../../http/handler.ts'
import { handleAt } from '../handle.ts'
import type { AdminDeps } from './deps.ts'

type ConversionDeps = Pick<AdminDeps, 'explainPurchase' | 'voidDelivery' | 'unvoidDelivery'>

export function createConversionHandlers(
  { explainPurchase, voidDelivery, unvoidDelivery }: ConversionDeps,
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
      if (reason.trim() === '') return refuse('REQUEST_INVALID', [saysNothing])
      const delivery = findDelivery(known, deliveryId)
      if (delivery === null) return refuse('REQUEST_INVALID', [notListed])
      if (!['counted', 'later', 'greater-delivery-id', 'void'].includes(delivery.standing)) {
        return refuse('REQUEST_INVALID', [
          `/deliveryId must be a delivery that could count; this one is ${delivery.standing}`,
        ])
      }

      const result = await voidDelivery({ ...path, deliveryId })
      if (result.kind === 'final') return refuse('DAYS_FINAL', [isFinal(result.finalBefore)])
      const now = findDelivery(await explainPurchase(path), deliveryId)
      assert(now?.judgedAt !== undefined, 'what is voided shows as void')
      const { judgedAt: voidedAt, countedDeliveryId } = now
      await audit.record({
        key,
        action: 'delivery.void',
        subject: deliveryId,
        details: describe(path, { before: delivery, after: now, reason }),
      })
      return answerJson(200, { deliveryId, voidedAt, countedDeliveryId })
    }),
    ...handleAt(operations.unvoidDelivery, purchase, async ({ key, path, body }, known) => {
      const { deliveryId, reason } = body
      if (reason.trim() === '') return refuse('REQUEST_INVALID', [saysNothing])
      const delivery = findDelivery(known, deliveryId)
      if (delivery === null) return refuse('REQUEST_INVALID', [notListed])
      if (delivery.standing !== 'void') {
        return refuse('REQUEST_INVALID', [
          `/deliveryId must be a void delivery; this one is ${delivery.standing}`,
        ])
      }

      const result = await unvoidDelivery({ ...path, deliveryId })
      if (result.kind === 'final') return refuse('DAYS_FINAL', [isFinal(result.finalBefore)])
      const now = findDelivery(await explainPurchase(path), deliveryId)
      assert(now?.judgedAt !== undefined, 'what is not void any more shows when it was judged')
      const { judgedAt, countedDeliveryId } = now
      await audit.record({
        key,
        action: 'delivery.unvoid',
        subject: deliveryId,
        details: describe(path, { before: delivery, after: now, reason }),
      })
      return answerJson(200, { deliveryId, judgedAt, countedDeliveryId })
    }),
  }
}

const saysNothing = '/reason must say why in visible characters'
const notListed = '/deliveryId must be the id of a delivery of this purchase or of a return of it'

function isFinal(finalBefore: string): string {
  return `/deliveryId must be of a purchase with a delivery that lies in no final day of any market; days before ${finalBefore} are final`
}

/** A delivery of the purchase, or of one of its returns, with the one that counts beside it. */
function findDelivery(explanation: Explanation | null, deliveryId: string) {
  if (explanation === null) return null
  const { deliveries, returns, countedDeliveryId } = explanation
  const bought = deliveries.find((one) => one.deliveryId === deliveryId)
  if (bought !== undefined) return { ...bought, countedDeliveryId, returnId: null }
  const sentBack = returns.find((one) => one.deliveryId === deliveryId)
  if (sentBack === undefined) return null
  const { returnId } = sentBack
  const counted = returns.find((one) => one.returnId === returnId && one.standing === 'counted')
  return { ...sentBack, countedDeliveryId: counted?.deliveryId ?? null, returnId }
}

type Found = NonNullable<ReturnType<typeof findDelivery>>

/** For the audit: which delivery counted before the call, and which one counts after it. */
function describe(
  path: PurchaseName,
  call: { readonly before: Found; readonly after: Found; readonly reason: string }
) {
  const { before, after, reason } = call
  const { publisherId, transactionId } = path
  return {
    publisherId,
    transactionId,
    ...(after.returnId !== null && { returnId: after.returnId }),
    reason,
    before: { countedDeliveryId: before.countedDeliveryId },
    after: { countedDeliveryId: after.countedDeliveryId },
  }
}
