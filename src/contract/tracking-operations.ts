// The operations by which publishers and pages send to the tracking port: the two tracking operations of the
// interface, and what was added to them.
import { text } from './fields.ts'
import { Type, type TSchema } from 'typebox'
import { conversionSchema, parseConversion } from './conversion.ts'
import { jsonBody, withIds, type Description, type JsonBody } from './operation.ts'
import {
  answer,
  header,
  otherwiseTracking,
  publicRefusals,
  type OperationResponse,
} from './responses.ts'
import { parseReturn, returnSchema } from './return.ts'

const tracking = { ports: ['tracking'], tag: 'Tracking', access: null, addition: true } as const

const notKept = 'Service Unavailable: the event was not kept; send it again.'
const noStore = { 'cache-control': header('`no-store`.') }
/** What every event is answered with that is stored. */
export const emptySchema = Type.Object({}, { description: 'Always {}.' })

function delivery<Value>(
  what: 'conversion' | 'return',
  schema: TSchema,
  parse: JsonBody<Value>['parse']
) {
  return {
    ...tracking,
    method: 'post',
    path: `/${what}`,
    body: jsonBody(schema, parse),
    isBackendOnly: true,
    responses: [
      answer('200', `The ${what} is stored durably.`, emptySchema),
      ...publicRefusals(
        [
          'DELIVERY_INVALID',
          'DELIVERY_ENCODING_INVALID',
          'DELIVERY_FROM_BROWSER',
          'HTTP_MALFORMED',
          'BODY_TOO_LARGE',
          'SERVICE_BUSY',
          'EVENT_NOT_STORED',
        ],
        { 400: `The payload does not comply with the ${what} JSON schema.`, 503: notKept }
      ),
      otherwiseTracking,
    ],
  } as const
}

type Kind = 'impression' | 'click' | 'load'

const trackingDataPath = Type.Object({
  trackingData: text(
    'The encrypted, base64-encoded string from the ad response. Clients pass it back unchanged.'
  ),
})

const keyNote =
  'A delivery key (`Authorization: Bearer`) decides whether it is believed, where the platform asks for ' +
  'one; nothing is ever refused for want of a key.'

const linkRefusals = [
  ...publicRefusals(
    [
      'TRACKING_DATA_INVALID',
      'PATH_MALFORMED',
      'HTTP_MALFORMED',
      'TRACKING_DATA_MISSING',
      'BODY_TOO_LARGE',
      'SERVICE_BUSY',
      'EVENT_NOT_STORED',
    ],
    {
      400:
        'The tracking data string was manipulated and is not the encrypted, base64-encoded string issued ' +
        'by the ad server.',
      404: 'The trackingData path segment is missing from the URL.',
      503: notKept,
    }
  ),
  otherwiseTracking,
]

function link(kind: Kind, summary: string) {
  return {
    ...tracking,
    path: `/${kind}/{trackingData}`,
    summary,
    pathParameters: trackingDataPath,
    body: null,
  } as const
}

function postLink(kind: Kind, summary: string) {
  return {
    ...link(kind, summary),
    method: 'post',
    description: 'The rules of the impression operation hold. A repeat counts once.',
    responses: [answer('200', 'The event is stored durably.', emptySchema), ...linkRefusals],
  } as const satisfies Description
}

const pixel: OperationResponse = {
  status: '200',
  description: 'A transparent image of one pixel; the event is stored durably.',
  content: { mediaType: 'image/gif', schema: Type.String({ format: 'binary' }) },
  headers: noStore,
}

const landing: readonly OperationResponse[] = [
  {
    ...answer('302', 'To the landing page inside the tracking data; the event is stored durably.'),
    headers: {
      location: header('The landing page.', { type: 'string', format: 'uri' }),
      ...noStore,
    },
  },
  answer('204', 'The tracking data names no landing page; the event is stored durably.'),
]

function getLink(kind: Kind, summary: string) {
  return {
    ...link(kind, summary),
    method: 'get',
    description: 'For links and images in a page. Query parameters are ignored.',
    responses: [...(kind === 'click' ? landing : [pixel]), ...linkRefusals],
  } as const satisfies Description
}

function probeLink(kind: Kind) {
  const article = kind === 'impression' ? 'an' : 'a'
  return {
    ...link(kind, `Probe ${article} ${kind} link`),
    method: 'head',
    description: 'Answers like GET, without a body, and counts nothing.',
    responses: getLink(kind, '').responses.map(withoutBody),
  } as const satisfies Description
}

function withoutBody(response: OperationResponse): OperationResponse {
  const description = response.description.replace('; the event is stored durably', '')
  return { ...response, description, content: null }
}

export const trackingOperations = withIds({
  deliverConversion: {
    ...delivery('conversion', conversionSchema, parseConversion),
    summary: 'Deliver a conversion event',
    description:
      'Reports the purchase of products, to be evaluated for attribution. Sent by the backend of the ' +
      'publisher, never by a browser. A repeat of a transaction is answered like the first delivery and ' +
      `counts once. ${keyNote}`,
    addition: false,
    interfaceStatuses: ['200', '400'],
  },
  deliverReturn: {
    ...delivery('return', returnSchema, parseReturn),
    summary: 'Deliver a return',
    description:
      'Reports that products of a purchase were sent back. Units and value are taken back on the day of ' +
      'the purchase, never more than were bought. Sent by the backend of the publisher, never by a ' +
      'browser, before or after its conversion. A repeat of a return is answered like the first delivery ' +
      `and counts once. ${keyNote}`,
  },
  deliverImpression: {
    ...postLink('impression', 'Deliver an impression event via tracking link'),
    description:
      'Reports that a user saw the ad. A repeat is answered like the first event and counts once.',
    addition: false,
    interfaceStatuses: ['200', '400', '404'],
  },
  deliverImpressionByImage: getLink('impression', 'Deliver an impression event via an image'),
  probeImpression: probeLink('impression'),
  deliverClick: postLink('click', 'Deliver a click event via tracking link'),
  followClick: getLink('click', 'Deliver a click event and go to the landing page'),
  probeClick: probeLink('click'),
  deliverLoad: postLink('load', 'Deliver a load event via tracking link'),
  deliverLoadByImage: getLink('load', 'Deliver a load event via an image'),
  probeLoad: probeLink('load'),
})
