import { parseConversion, type Conversion } from '../contract/conversion.ts'
import { parseReturn, type PurchaseReturn } from '../contract/return.ts'
import { emptySchema } from '../contract/tracking-operations.ts'
import type { RefusalCode } from '../contract/refusal-codes.ts'
import { compileParser } from '../contract/validate.ts'
import { namesPurchase } from '../domain/purchase-key.ts'
import { createCaller, takeJson, type CallOptions } from './caller.ts'
import {
  ClientError,
  expectOptions,
  invalid,
  withDetails,
  type ClientErrorCode,
} from './client-error.ts'
import type { Exchange } from './exchange.ts'
import { parsePublisherOptions, type PublisherClientOptions } from './options.ts'
import { createRoute, type Route } from './route.ts'
import { Slots } from './slots.ts'

export interface SendOptions extends CallOptions {
  /**
   * Deliveries whose transaction id is empty or white space cannot be told apart: each is a purchase of
   * its own. They are therefore refused without this option, and with it sent once, never again.
   */
  readonly allowEmptyTransactionId?: boolean
}

export interface SentConversion {
  readonly attemptCount: number
}

export interface SentReturn {
  readonly attemptCount: number
}

export interface PublisherClient {
  /**
   * Delivers a purchase; resolves when the service has it on disk. Sending the same purchase again is
   * harmless, also from another process or after a restart: the first delivery of a `transaction_id`
   * counts, as a whole. So a failure that `isRetryable` may always be sent again later: every one but a
   * fault of the purchase itself, though somebody may have to mend an address or a proxy first.
   */
  sendConversion(conversion: Conversion, options?: SendOptions): Promise<SentConversion>
  /**
   * Delivers a return of products; resolves when the service has it on disk. The order of a return and
   * its purchase does not matter, and sending it again is harmless: the first delivery of a `return_id`
   * counts.
   */
  sendReturn(purchaseReturn: PurchaseReturn, options?: CallOptions): Promise<SentReturn>
}

const conversionRoute = createRoute('deliverConversion')
const returnRoute = createRoute('deliverReturn')
const emptyTransaction =
  '/transaction_id must not be empty or white space: each delivery would be a purchase of its own'

/**
 * The tracking port refuses no delivery for its key, and both paths are always there: 401, 403 and 404, like an answer
 * that is not the service's, say that the address is wrong, never that the delivery is.
 */
const finalCodes: ReadonlySet<ClientErrorCode> = new Set([
  'REQUEST_INVALID',
  'REQUEST_REFUSED',
  'ABORTED',
])

/** Refusals of what an address or a proxy has made of the request. */
const passingRefusals: ReadonlySet<RefusalCode> = new Set([
  'HTTP_MALFORMED',
  'PATH_MALFORMED',
  'METHOD_NOT_ALLOWED',
  'PATH_TOO_LONG',
  'EXPECTATION_UNMET',
  'HEADERS_TOO_LARGE',
])

function isFaultOfDelivery({ code, refusalCode }: ClientError): boolean {
  return finalCodes.has(code) && !(refusalCode !== null && passingRefusals.has(refusalCode))
}

interface Delivery {
  readonly route: Route
  readonly body: Conversion | PurchaseReturn
  readonly isRepeatable: boolean
  readonly signal: AbortSignal | undefined
}

/** For the backend of a publisher. Throws OPTIONS_INVALID. Nothing is to be closed. */
export function createPublisherClient(options: PublisherClientOptions): PublisherClient {
  const connection = parsePublisherOptions(options)
  const caller = createCaller(connection, connection.key)
  const slots = new Slots({
    slotsMax: connection.inFlightMax,
    waitingMax: connection.waitingMax,
  })

  const deliver = async ({ route, body, isRepeatable, signal }: Delivery) => {
    const send = async () => {
      const { attemptCount } = await caller.call({
        route,
        body,
        isRepeatable,
        signal,
        take: takeReceipt,
      })
      return { attemptCount }
    }
    try {
      return await slots.run(send, signal)
    } catch (error) {
      if (!(error instanceof ClientError)) throw error
      // Whether one that cannot be repeated arrived is not known, and another one would count again.
      const isRetryable = isRepeatable
        ? !isFaultOfDelivery(error)
        : error.isRetryable && error.attemptCount === 0
      throw withDetails(error, { isRetryable })
    }
  }

  return {
    async sendConversion(value, sendOptions = {}) {
      const { signal, allowEmptyTransactionId = false } = expectOptions(sendOptions, [
        'allowEmptyTransactionId',
      ])
      // Checked and copied now: what the caller changes while the call waits is not sent unchecked.
      const body = checkConversion(value, allowEmptyTransactionId)
      const isRepeatable = namesPurchase(body.transaction_id)
      return await deliver({ route: conversionRoute, body, isRepeatable, signal })
    },

    async sendReturn(value, sendOptions = {}) {
      const { signal } = expectOptions(sendOptions, [])
      const parsed = parseReturn(value)
      if (!parsed.ok) throw invalid('REQUEST_INVALID', parsed.messages)
      return await deliver({ route: returnRoute, body: parsed.value, isRepeatable: true, signal })
    },
  }
}

function checkConversion(value: unknown, allowEmptyTransactionId: boolean): Conversion {
  const parsed = parseConversion(value)
  if (!parsed.ok) throw invalid('REQUEST_INVALID', parsed.messages)
  if (!namesPurchase(parsed.value.transaction_id) && !allowEmptyTransactionId) {
    throw invalid('REQUEST_INVALID', [emptyTransaction])
  }
  return parsed.value
}

const receiptBytesMax = 65_536
const readReceipt = takeJson(compileParser(emptySchema), receiptBytesMax)

/**
 * The status alone is no promise: the maintenance page of a proxy may come with 200 too. Such a page goes away, and
 * a delivery that was stored all the same counts once, so another try may help and does no harm.
 */
async function takeReceipt(exchange: Exchange): Promise<void> {
  try {
    await readReceipt(exchange)
  } catch (error) {
    if (!(error instanceof ClientError) || error.code !== 'ANSWER_UNEXPECTED') throw error
    throw withDetails(error, { isRetryable: true })
  }
}
