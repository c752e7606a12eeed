import { parseConversion, type Conversion } from '../contract/conversion.ts'
import { createCaller, type CallOptions } from './caller.ts'
import { ClientError, invalid, withDetails } from './client-error.ts'
import type { Exchange } from './exchange.ts'
import { parsePublisherOptions, type PublisherClientOptions } from './options.ts'
import { createRoute } from './route.ts'
import { Slots } from './slots.ts'

export interface SendOptions extends CallOptions {
  /**
   * Deliveries without a transaction id cannot be told apart: each is a purchase of its own. They are
   * therefore refused without this option, and with it sent once, never again.
   */
  readonly allowEmptyTransactionId?: boolean
}

export interface SentConversion {
  readonly attemptCount: number
}

export interface PublisherClient {
  /**
   * Delivers a purchase; resolves when the service has it on disk. Sending the same purchase again is
   * harmless, also from another process or after a restart: the first delivery of a `transaction_id`
   * counts, as a whole. So a failure that `isRetryable` may always be sent again later.
   */
  sendConversion(conversion: Conversion, options?: SendOptions): Promise<SentConversion>
}

const route = createRoute('deliverConversion')
const emptyTransaction =
  '/transaction_id must not be empty: each delivery would be a purchase of its own'

/** For the backend of a publisher. Throws OPTIONS_INVALID. Nothing is to be closed. */
export function createPublisherClient(options: PublisherClientOptions): PublisherClient {
  const connection = parsePublisherOptions(options)
  const caller = createCaller(connection, null)
  const slots = new Slots({
    slotsMax: connection.inFlightMax,
    waitingMax: connection.waitingMax,
  })

  return {
    async sendConversion(value, { signal, allowEmptyTransactionId = false } = {}) {
      // Checked and copied now: what the caller changes while the call waits is not sent unchecked.
      const conversion = checkConversion(value, allowEmptyTransactionId)
      const isRepeatable = conversion.transaction_id !== ''
      const send = async () => {
        const { attemptCount } = await caller.call({
          route,
          parameters: {},
          body: conversion,
          accept: 'application/json',
          expects: 200,
          isRepeatable,
          signal,
          take: discard,
        })
        return { attemptCount }
      }
      try {
        return await slots.run(send, signal)
      } catch (error) {
        if (isRepeatable || !(error instanceof ClientError)) throw error
        // Whether it arrived is not known, and another one would count again.
        throw withDetails(error, { isRetryable: error.isRetryable && error.attemptCount === 0 })
      }
    },
  }
}

function checkConversion(value: unknown, allowEmptyTransactionId: boolean): Conversion {
  const parsed = parseConversion(value)
  if (!parsed.ok) throw invalid('REQUEST_INVALID', parsed.messages)
  if (parsed.conversion.transaction_id === '' && !allowEmptyTransactionId) {
    throw invalid('REQUEST_INVALID', [emptyTransaction])
  }
  return parsed.conversion
}

const discardedBytesMax = 65_536

/** The status is the promise, whatever follows; reading on keeps the connection for the next one. */
async function discard(exchange: Exchange): Promise<void> {
  try {
    await exchange.readText(discardedBytesMax)
  } catch {
    // The purchase is stored; that the rest of the answer is lost changes nothing.
  }
  exchange.close()
}
