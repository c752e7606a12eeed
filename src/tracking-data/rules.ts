/**
 * The rules for every field of a token. One table serves both sides: the minter refuses what breaks it,
 * and the opener refuses it again, because other software may have written the token with our key.
 */
import { costMicrosMax } from './cost.ts'
import { isLandingUrl, landingUrlLengthMax } from './landing-url.ts'
import type { TrackingData } from './payload.ts'
import type { Fault } from './tracking-data-error.ts'

const int32Max = 2_147_483_647
export const servedAtMsMin = Date.UTC(2020, 0, 1)
const servedAtMsMax = Date.UTC(2100, 0, 1)

// The lengths of the interface, in Unicode code points.
const gtinLengthMax = 60
const groupIdLengthMax = 60
const userIdLengthMax = 128

interface Rule {
  readonly field: keyof TrackingData
  readonly text: string
  holds(this: void, data: TrackingData): boolean
}

const idRule = `must be an integer from 1 to ${int32Max}`
const costRule = `must be a bigint from 0 to ${costMicrosMax} millionths`

const rules: readonly Rule[] = [
  {
    field: 'servedAdId',
    text: 'must be 32 lower-case hexadecimal digits',
    holds: ({ servedAdId }) => isServedAdId(servedAdId),
  },
  {
    field: 'servedAtMs',
    text: 'must be whole milliseconds from 2020-01-01 to 2100-01-01 UTC',
    holds: ({ servedAtMs }) =>
      Number.isInteger(servedAtMs) && servedAtMs >= servedAtMsMin && servedAtMs <= servedAtMsMax,
  },
  { field: 'publisherId', text: idRule, holds: (data) => isId(data.publisherId) },
  { field: 'siteId', text: idRule, holds: (data) => isId(data.siteId) },
  { field: 'marketId', text: idRule, holds: (data) => isId(data.marketId) },
  { field: 'advertiserId', text: idRule, holds: (data) => isId(data.advertiserId) },
  { field: 'campaignId', text: idRule, holds: (data) => isId(data.campaignId) },
  { field: 'adGroupId', text: idRule, holds: (data) => isId(data.adGroupId) },
  {
    field: 'gtin',
    text: textRule(1, gtinLengthMax),
    holds: (data) => data.gtin !== '' && isText(data.gtin, gtinLengthMax),
  },
  {
    field: 'groupId',
    text: textRule(0, groupIdLengthMax),
    holds: (data) => isText(data.groupId, groupIdLengthMax),
  },
  {
    field: 'userId',
    text: textRule(0, userIdLengthMax),
    holds: (data) => isText(data.userId, userIdLengthMax),
  },
  {
    field: 'userLoggedInId',
    text: textRule(0, userIdLengthMax),
    holds: (data) => isText(data.userLoggedInId, userIdLengthMax),
  },
  {
    field: 'currency',
    text: 'must be three capital letters',
    holds: ({ currency }) => typeof currency === 'string' && /^[A-Z]{3}$/.test(currency),
  },
  { field: 'costPerClickMicros', text: costRule, holds: (data) => isCost(data.costPerClickMicros) },
  { field: 'costPerMilleMicros', text: costRule, holds: (data) => isCost(data.costPerMilleMicros) },
  {
    field: 'landingUrl',
    text:
      'must be empty or an absolute http or https address with a host, without credentials, blanks and backslashes, ' +
      `of at most ${landingUrlLengthMax} ASCII characters once percent-encoded`,
    holds: (data) => data.landingUrl === '' || isLandingUrl(data.landingUrl),
  },
]

/** Every broken rule, in the order of the fields. */
export function findFaults(data: TrackingData): Fault[] {
  return rules
    .filter((rule) => !rule.holds(data))
    .map((rule) => ({ field: `/${rule.field}`, rule: rule.text }))
}

/** The same question without the list: this runs for every event. */
export function isValid(data: TrackingData): boolean {
  for (const rule of rules) if (!rule.holds(data)) return false
  return true
}

/** A loop takes a third of the time of a pattern here. */
function isServedAdId(text: string): boolean {
  if (typeof text !== 'string' || text.length !== 32) return false
  for (let at = 0; at < 32; at++) {
    const char = text.charCodeAt(at)
    const isDigit = char >= 0x30 && char <= 0x39
    if (!isDigit && !(char >= 0x61 && char <= 0x66)) return false
  }
  return true
}

// Callers of the library may write JavaScript, so the type is a question here too.
function isId(id: number): boolean {
  return Number.isInteger(id) && id >= 1 && id <= int32Max
}

function isCost(micros: bigint): boolean {
  return typeof micros === 'bigint' && micros >= 0n && micros <= costMicrosMax
}

function textRule(lengthMin: number, lengthMax: number): string {
  return `must be text of ${lengthMin} to ${lengthMax} characters without U+0000 or lone surrogates`
}

// With the flag u a surrogate pair is one character, so this finds only halves.
const notText = /[\0\p{Surrogate}]/u

function isText(text: string, lengthMax: number): boolean {
  return typeof text === 'string' && isWithinLength(text, lengthMax) && !notText.test(text)
}

/** Counts code points, and only when the number of code units does not settle it. */
function isWithinLength(text: string, lengthMax: number): boolean {
  if (text.length <= lengthMax) return true
  if (text.length > 2 * lengthMax) return false
  return Array.from(text).length <= lengthMax
}
