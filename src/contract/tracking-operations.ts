import { Type } from 'typebox'
import { conversionSchema } from './conversion.ts'
import { returnSchema } from './return.ts'
import {
  answer,
  jsonBody,
  otherwise,
  refusal,
  type Method,
  type Operation,
  type OperationResponse,
} from './operation.ts'

const emptySchema = Type.Object({}, { description: 'Always {}.' })

const trackingDataParameter = Type.Object({
  trackingData: Type.String({
    description:
      'The encrypted, base64-encoded string from the ad response. Clients pass it back unchanged.',
  }),
})

const manipulated = refusal(
  '400',
  'The tracking data string was manipulated and is not the encrypted, base64-encoded string issued ' +
    'by the ad server.'
)
const segmentMissing = refusal('404', 'The trackingData path segment is missing from the URL.')
const stored = answer('200', 'The event is stored durably.', emptySchema)

const pixel: OperationResponse = {
  status: '200',
  description: 'A transparent image of one pixel; the event is stored durably.',
  content: { mediaType: 'image/gif', schema: Type.String({ format: 'binary' }) },
  headers: { 'cache-control': 'no-store' },
}

const landing: readonly OperationResponse[] = [
  {
    ...answer('302', 'To the landing page inside the tracking data; the event is stored durably.'),
    headers: { location: 'The landing page.', 'cache-control': 'no-store' },
  },
  answer('204', 'The tracking data names no landing page; the event is stored durably.'),
]

const conversion: Operation = {
  operationId: 'deliverConversion',
  method: 'post',
  path: '/conversion',
  ports: ['tracking'],
  tag: 'Tracking',
  summary: 'Deliver a conversion event',
  description:
    'Reports the purchase of products, to be evaluated for attribution. Sent by the backend of the ' +
    'publisher, never by a browser. A repeat of a transaction is answered like the first delivery and ' +
    'counts once.',
  access: null,
  body: jsonBody(conversionSchema),
  responses: [
    answer('200', 'The conversion is stored durably.', emptySchema),
    refusal('400', 'The payload does not comply with the conversion JSON schema.'),
    otherwise,
  ],
  addition: false,
}

const purchaseReturn: Operation = {
  operationId: 'deliverReturn',
  method: 'post',
  path: '/return',
  ports: ['tracking'],
  tag: 'Tracking',
  summary: 'Deliver a return',
  description:
    'Reports that products of a purchase were sent back. Units and value are taken back on the day of ' +
    'the purchase, never more than were bought. Sent by the backend of the publisher, never by a ' +
    'browser, also before its conversion. A repeat of a return is answered like the first delivery and ' +
    'counts once.',
  access: null,
  body: jsonBody(returnSchema),
  responses: [
    answer('200', 'The return is stored durably.', emptySchema),
    refusal('400', 'The payload does not comply with the return JSON schema.'),
    otherwise,
  ],
  addition: true,
}

const impression: Operation = {
  operationId: 'deliverImpression',
  method: 'post',
  path: '/impression/{trackingData}',
  ports: ['tracking'],
  tag: 'Tracking',
  summary: 'Deliver an impression event via tracking link',
  description:
    'Reports that a user saw the ad. A repeat is answered like the first event and counts once.',
  access: null,
  pathParameters: trackingDataParameter,
  body: null,
  responses: [stored, manipulated, segmentMissing, otherwise],
  addition: false,
}

interface LinkDetails {
  readonly operationId: string
  readonly kind: 'impression' | 'click' | 'load'
  readonly summary: string
}

function postLink({ operationId, kind, summary }: LinkDetails): Operation {
  const description = 'The rules of the impression operation hold. A repeat counts once.'
  const path = `/${kind}/{trackingData}`
  return { ...impression, operationId, path, summary, description, addition: true }
}

function readLink(method: Method, { operationId, kind, summary }: LinkDetails): Operation {
  const success = kind === 'click' ? landing : [pixel]
  const isHead = method === 'head'
  const responses = [...success, manipulated, segmentMissing, otherwise]
  return {
    ...impression,
    operationId,
    method,
    path: `/${kind}/{trackingData}`,
    summary,
    description: isHead
      ? 'Answers like GET, without a body, and counts nothing.'
      : 'For links and images in a page. Query parameters are ignored.',
    responses: isHead ? responses.map(withoutBody) : responses,
    addition: true,
  }
}

function withoutBody(response: OperationResponse): OperationResponse {
  const description = response.description.replace('; the event is stored durably', '')
  return { ...response, description, content: null }
}

export const trackingOperations: readonly Operation[] = [
  conversion,
  purchaseReturn,
  impression,
  readLink('get', {
    operationId: 'deliverImpressionByImage',
    kind: 'impression',
    summary: 'Deliver an impression event via an image',
  }),
  readLink('head', {
    operationId: 'probeImpression',
    kind: 'impression',
    summary: 'Probe an impression link',
  }),
  postLink({
    operationId: 'deliverClick',
    kind: 'click',
    summary: 'Deliver a click event via tracking link',
  }),
  readLink('get', {
    operationId: 'followClick',
    kind: 'click',
    summary: 'Deliver a click event and go to the landing page',
  }),
  readLink('head', { operationId: 'probeClick', kind: 'click', summary: 'Probe a click link' }),
  postLink({
    operationId: 'deliverLoad',
    kind: 'load',
    summary: 'Deliver a load event via tracking link',
  }),
  readLink('get', {
    operationId: 'deliverLoadByImage',
    kind: 'load',
    summary: 'Deliver a load event via an image',
  }),
  readLink('head', { operationId: 'probeLoad', kind: 'load', summary: 'Probe a load link' }),
]
