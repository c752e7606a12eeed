// The JSON of a record, equal to that of `JSON.stringify`. It is written by hand, which takes half the time: most
// values are numbers, words and digits, which JSON never escapes, and the other texts are checked.

import { quoted } from '../lib/json-text.ts'
import type {
  AdEventRecord,
  ConversionLine,
  ConversionRecord,
  Origin,
  SpoolRecord,
} from './record.ts'

export function recordText(record: SpoolRecord): string {
  switch (record.type) {
    case 'ad-event':
      return adEventText(record)
    case 'conversion':
      return conversionText(record)
    case 'return':
      return JSON.stringify(record)
  }
}

/** A token and a kind hold no character that JSON escapes. */
function adEventText(record: AdEventRecord): string {
  const { kind, receivedAtMs, trackingData, userAgent, isPrefetch } = record
  return (
    `{"type":"ad-event","kind":"${kind}","receivedAtMs":${receivedAtMs},"trackingData":"${trackingData}",` +
    `"userAgent":${quoted(userAgent)},"isPrefetch":${isPrefetch}` +
    `${judgementText(record)}${traceText(record)}}`
  )
}

/** Hexadecimal digits and hyphens. */
function traceText({ trace }: SpoolRecord): string {
  return trace === undefined ? '' : `,"trace":"${trace}"`
}

/** Words and hexadecimal digits, which JSON does not escape either. */
function judgementText({ caller, dataCentreList, isBot }: AdEventRecord): string {
  const callerText = caller === undefined ? '' : `,"caller":"${caller}"`
  const listText = dataCentreList === undefined ? '' : `,"dataCentreList":"${dataCentreList}"`
  return callerText + listText + (isBot === undefined ? '' : `,"isBot":${isBot}`)
}

/** Identities and the key are hexadecimal digits or words, and the currency is three letters. */
function conversionText(record: ConversionRecord): string {
  const { receivedAtMs, publisherId, siteId, transactionId, lines, origin } = record
  const { userIdentity, loginIdentity, currency, presentedKey } = record
  return (
    `{"type":"conversion","receivedAtMs":${receivedAtMs},"publisherId":${publisherId},"siteId":${siteId},` +
    `"transactionId":${quoted(transactionId)},"userIdentity":"${userIdentity}",` +
    `"loginIdentity":"${loginIdentity}","currency":"${currency}","lines":[${linesText(lines)}],` +
    `"origin":${originText(origin)},"presentedKey":"${presentedKey}"${traceText(record)}}`
  )
}

/** Prices and quantities are finite, so their text is a number of JSON. */
function linesText(lines: readonly ConversionLine[]): string {
  let text = ''
  for (const { gtin, groupId, brand, price, quantity } of lines) {
    text +=
      `${text === '' ? '' : ','}{"gtin":${quoted(gtin)},"groupId":${quoted(groupId)},` +
      `"brand":${quoted(brand)},"price":${price},"quantity":${quantity}}`
  }
  return text
}

function originText(origin: Origin): string {
  if (origin.kind === 'backfill') return '{"kind":"backfill"}'
  return `{"kind":"live","address":${origin.address === null ? 'null' : quoted(origin.address)}}`
}
