// Turns the actions of a journey into HTTP requests, each with the answer it must get.
import { publishers } from './catalog.ts'
import type { Visitor } from './expectation.ts'
import type { HttpRequest } from './http.ts'
import type { Action, PlannedAd, PlannedPurchase, PlannedReturn } from './journey.ts'
import type { MintedAd } from './minting.ts'

export interface Prepared {
  /** The kind of the request, for counting and for naming failures. */
  readonly kind: string
  readonly request: HttpRequest
  readonly expectation: Expectation
}

interface Expectation {
  readonly status: number
  readonly location?: string
  readonly contentType?: string
  readonly body?: string
}

interface Scene {
  readonly trackingUrl: string
  readonly minted: ReadonlyMap<PlannedAd, MintedAd>
}

const browsers = [
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Safari/537.36',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1',
  'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
]
const appSiteIds: ReadonlySet<number> = new Set(
  publishers.flatMap(({ sites }) =>
    sites.filter(({ type }) => type === 'MOBILE_APP').map(({ id }) => id)
  )
)
const googlebot = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)'

export function prepare(action: Action, scene: Scene): Prepared {
  switch (action.type) {
    case 'fire':
      return prepareFire(action, scene)
    case 'purchase':
      return preparePurchase(action.purchase, scene)
    case 'return':
      return {
        kind: 'return',
        request: deliveryRequest(`${scene.trackingUrl}/return`, returnBody(action.sentBack)),
        expectation: { status: 200, body: '{}' },
      }
    case 'refused-return':
      return prepareRefusedReturn(action.fault, scene)
    case 'tampered':
      return prepareTampered(action, mintedOf(scene, action.ad))
    case 'missing-segment':
      return {
        kind: 'link without its tracking data',
        request: { method: 'POST', url: `${scene.trackingUrl}/${action.kind}/` },
        expectation: { status: 404 },
      }
    case 'refused-purchase':
      return prepareRefused(action.fault, scene)
  }
}

function mintedOf({ minted }: Scene, ad: PlannedAd): MintedAd {
  const found = minted.get(ad)
  if (found === undefined) throw new Error('an ad was fired that was never minted')
  return found
}

type Fire = Extract<Action, { type: 'fire' }>

function prepareFire({ kind, method, visitor, ad: planned }: Fire, scene: Scene): Prepared {
  const ad = mintedOf(scene, planned)
  const by = visitor === 'person' ? '' : ` by a ${visitor}`
  return {
    kind: `${kind} (${method})${by}`,
    request: {
      method,
      url: ad.urls[kind],
      headers: visitorHeaders(visitor, { ad, siteId: planned.request.siteId }),
    },
    expectation: fireExpectation({ kind, method }, ad),
  }
}

function fireExpectation({ kind, method }: Pick<Fire, 'kind' | 'method'>, ad: MintedAd) {
  if (method === 'POST') return { status: 200, body: '{}' }
  if (kind !== 'click') return { status: 200, contentType: 'image/gif' }
  return ad.landingUrl === null ? { status: 204 } : { status: 302, location: ad.landingUrl }
}

interface Visited {
  readonly ad: MintedAd
  readonly siteId: number
}

function visitorHeaders(visitor: Visitor, { ad, siteId }: Visited): Record<string, string> {
  switch (visitor) {
    case 'bot':
      return { 'user-agent': googlebot }
    case 'prefetch':
      return { 'user-agent': browserOf(ad), 'sec-purpose': 'prefetch;prerender' }
    case 'person':
    case 'probe': {
      if (!appSiteIds.has(siteId)) return { 'user-agent': browserOf(ad) }
      // An app may send no user agent at all, or that of its library, and counts.
      const { servedAdId } = ad.served
      if (servedAdId.endsWith('0')) return {}
      return { 'user-agent': servedAdId.endsWith('1') ? 'okhttp/4.12.0' : browserOf(ad) }
    }
  }
}

function browserOf(ad: MintedAd): string {
  const digit = Number.parseInt(ad.served.servedAdId.slice(-1), 16)
  return browsers[digit % browsers.length] ?? googlebot
}

function preparePurchase(purchase: PlannedPurchase, { trackingUrl }: Scene): Prepared {
  return {
    kind: 'conversion',
    request: deliveryRequest(`${trackingUrl}/conversion`, conversionBody(purchase)),
    expectation: { status: 200, body: '{}' },
  }
}

/** A conversion as the interface has it; Number() of the short price texts prints as the same text. */
export function conversionBody(purchase: PlannedPurchase): object {
  return {
    user_id: purchase.userId,
    ...(purchase.userLoggedInId === undefined
      ? {}
      : { user_logged_in_id: purchase.userLoggedInId }),
    transaction_id: purchase.transactionId,
    site_id: purchase.siteId,
    publisher_id: purchase.publisherId,
    currency: purchase.currency,
    products: purchase.lines.map(({ gtin, groupId, price, quantity }) => ({
      gtin,
      ...(groupId === undefined ? {} : { group_id: groupId }),
      price: Number(price),
      quantity,
    })),
  }
}

function returnBody({ publisherId, transactionId, returnId, lines }: PlannedReturn): object {
  return {
    publisher_id: publisherId,
    transaction_id: transactionId,
    return_id: returnId,
    products: lines,
  }
}

function deliveryRequest(url: string, body: object): HttpRequest {
  return {
    method: 'POST',
    url,
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify(body),
  }
}

/** One character in the middle of the tracking data becomes another. */
function prepareTampered({ kind }: Extract<Action, { type: 'tampered' }>, ad: MintedAd): Prepared {
  const url = ad.urls[kind]
  const at = url.lastIndexOf('/') + Math.floor((url.length - url.lastIndexOf('/')) / 2)
  const other = url[at] === 'A' ? 'B' : 'A'
  return {
    kind: `tampered ${kind}`,
    request: { method: 'POST', url: `${url.slice(0, at)}${other}${url.slice(at + 1)}` },
    expectation: { status: 400 },
  }
}

type Fault = Extract<Action, { type: 'refused-purchase' }>['fault']

function prepareRefused(fault: Fault, { trackingUrl }: Scene): Prepared {
  const sound = {
    user_id: 'refused',
    transaction_id: 'refused',
    site_id: 101,
    publisher_id: 10,
    currency: 'EUR',
    products: [{ gtin: '1', price: 1, quantity: 1 }],
  }
  const broken = {
    schema: { ...sound, products: [{ gtin: '1', price: '1', quantity: 1 }] },
    currency: { ...sound, currency: 'EUX' },
    browser: sound,
  }[fault]
  const request = deliveryRequest(`${trackingUrl}/conversion`, broken)
  return {
    kind: `conversion with a fault (${fault})`,
    request: fault === 'browser' ? fromBrowser(request) : request,
    expectation: { status: 400 },
  }
}

type ReturnFault = Extract<Action, { type: 'refused-return' }>['fault']

function prepareRefusedReturn(fault: ReturnFault, { trackingUrl }: Scene): Prepared {
  const sound: PlannedReturn = {
    publisherId: 10,
    transactionId: 'refused',
    returnId: 'refused',
    lines: [{ gtin: '1', quantity: 1 }],
  }
  const broken = {
    schema: { ...sound, lines: [{ gtin: '1', quantity: 0 }] },
    nameless: { ...sound, transactionId: ' ' },
    browser: sound,
  }[fault]
  const request = deliveryRequest(`${trackingUrl}/return`, returnBody(broken))
  return {
    kind: `return with a fault (${fault})`,
    request: fault === 'browser' ? fromBrowser(request) : request,
    expectation: { status: 400 },
  }
}

function fromBrowser(request: HttpRequest): HttpRequest {
  return { ...request, headers: { ...request.headers, origin: 'https://shop.example' } }
}
