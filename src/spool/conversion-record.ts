import type { Conversion } from '../contract/conversion.ts'
import type { IdentityHasher } from '../domain/identity.ts'
import type { ConversionRecord } from './record.ts'

interface Receipt extends Pick<ConversionRecord, 'receivedAtMs' | 'origin'> {
  readonly hashIdentity: IdentityHasher
}

/** Ids are hashed here, so that the raw ones never reach the disk. */
export function toConversionRecord(conversion: Conversion, receipt: Receipt): ConversionRecord {
  const { hashIdentity, receivedAtMs, origin } = receipt
  const publisherId = conversion.publisher_id
  return {
    type: 'conversion',
    receivedAtMs,
    publisherId,
    siteId: conversion.site_id,
    transactionId: conversion.transaction_id,
    userIdentity: hashIdentity('user', publisherId, conversion.user_id),
    loginIdentity: hashIdentity('login', publisherId, conversion.user_logged_in_id ?? ''),
    currency: conversion.currency,
    lines: conversion.products.map((product) => ({
      gtin: product.gtin,
      groupId: product.group_id ?? '',
      brand: product.brand ?? '',
      price: product.price,
      quantity: product.quantity,
    })),
    origin,
  }
}
