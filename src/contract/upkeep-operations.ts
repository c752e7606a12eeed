// What operators do to single records and to the node: finding what does not fit, replaying, explaining,
// voiding, erasing, backing up.
import { Type } from 'typebox'
import { admin, refusals } from './admin-operation.ts'
import { backupListSchema, backupRequestSchema, backupSchema } from './backups.ts'
import { conflictPageSchema, conflictsQuerySchema } from './conflicts.ts'
import {
  erasurePageSchema,
  erasureRequestSchema,
  erasureSchema,
  erasuresQuerySchema,
} from './erasures.ts'
import { explanationSchema, voidRequestSchema, voidResponseSchema } from './explanation.ts'
import { catalogId } from './fields.ts'
import { answer, jsonBody, refusal, type Operation } from './operation.ts'
import {
  replayRequestSchema,
  replayResultSchema,
  setAsideLimits,
  setAsidePageSchema,
  setAsideQuerySchema,
} from './set-aside.ts'
import { unknownIdsMax, unknownIdsSchema } from './unknown-ids.ts'

const setAsideOperations: readonly Operation[] = [
  admin({
    operationId: 'listSetAside',
    method: 'get',
    path: '/set-aside',
    summary: 'List what could not be shipped',
    description:
      'Records that the warehouse refused or that could not be read, with the reason, longest waiting first. ' +
      'Nothing of what they say is shown.',
    queryParameters: setAsideQuerySchema,
    body: null,
    responses: [answer('200', 'One page.', setAsidePageSchema), ...refusals],
  }),
  admin({
    operationId: 'replaySetAside',
    method: 'post',
    path: '/set-aside/replay',
    summary: 'Ship once more what was set aside',
    description:
      'Once its cause is mended. The records keep their keys and their instants of receipt, so repeating the ' +
      `call changes nothing. At most ${setAsideLimits.replayMax} records a call.`,
    body: jsonBody(replayRequestSchema),
    responses: [answer('200', 'It is done.', replayResultSchema), ...refusals],
  }),
]

const misfitOperations: readonly Operation[] = [
  admin({
    operationId: 'listConflicts',
    method: 'get',
    path: '/conflicts',
    summary: 'List purchases and returns whose deliveries differ',
    description:
      'Those of the last 30 days, newest first. One delivery of each counts and the others change nothing: ' +
      'a purchase is explained by its publisher and transaction id. At most `limit`, and how many there are.',
    queryParameters: conflictsQuerySchema,
    body: null,
    responses: [answer('200', 'The newest conflicts.', conflictPageSchema), ...refusals],
  }),
  admin({
    operationId: 'listUnknownIds',
    method: 'get',
    path: '/unknown-ids',
    summary: 'List the ids that the catalog does not have',
    description:
      'What events and conversions of the last 30 days name and the catalog lacks, with how many name it; ' +
      `at most ${unknownIdsMax}. Repeats may count until they are merged.`,
    body: null,
    responses: [answer('200', 'The ids.', unknownIdsSchema), ...refusals],
  }),
]

const purchasePath = Type.Object({
  publisherId: catalogId(),
  transactionId: Type.String({ description: 'Percent-encoded.' }),
})
const noPurchase = refusal('404', 'Not Found: nothing is known of such a purchase.')

const conversionOperations: readonly Operation[] = [
  admin({
    operationId: 'explainConversion',
    method: 'get',
    path: '/conversions/{publisherId}/{transactionId}',
    summary: 'Explain the attribution of a purchase',
    description:
      'Every delivery of it, and for each line of the one that counts who is credited, by which rule, and ' +
      'why every other touchpoint is not. Decided anew from the events, and held against what the reports use.',
    pathParameters: purchasePath,
    body: null,
    responses: [answer('200', 'The explanation.', explanationSchema), noPurchase, ...refusals],
  }),
  admin({
    operationId: 'voidDelivery',
    method: 'post',
    path: '/conversions/{publisherId}/{transactionId}/void',
    summary: 'Void a delivery of a purchase',
    description:
      'The delivery never counts again and the next one does, or none. Attributions and sealed days follow ' +
      'within minutes. It cannot be undone; doing it again changes nothing.',
    pathParameters: purchasePath,
    body: jsonBody(voidRequestSchema),
    responses: [
      answer('200', 'The delivery is void.', voidResponseSchema),
      noPurchase,
      ...refusals,
    ],
  }),
]

const erasureOperations: readonly Operation[] = [
  admin({
    operationId: 'requestErasure',
    method: 'post',
    path: '/erasures',
    summary: 'Erase a shopper',
    description:
      'Removes what ties events to a person, of everything received until now; figures stay. Neither the ' +
      'answer nor the audit repeats an id.',
    body: jsonBody(erasureRequestSchema),
    responses: [answer('202', 'It is going to be done.', erasureSchema), ...refusals],
  }),
  admin({
    operationId: 'getErasure',
    method: 'get',
    path: '/erasures/{id}',
    summary: 'Read how far an erasure is',
    description: 'By the id that the request was answered with.',
    pathParameters: Type.Object({ id: Type.String({ description: 'Of the erasure.' }) }),
    body: null,
    responses: [
      answer('200', 'The erasure.', erasureSchema),
      refusal('404', 'Not Found: there is no such erasure.'),
      ...refusals,
    ],
  }),
  admin({
    operationId: 'listErasures',
    method: 'get',
    path: '/erasures',
    summary: 'List the erasures',
    description: 'The newest `limit` of them (100 when absent), with their state.',
    queryParameters: erasuresQuerySchema,
    body: null,
    responses: [answer('200', 'The newest erasures.', erasurePageSchema), ...refusals],
  }),
]

const backupOperations: readonly Operation[] = [
  admin({
    operationId: 'createBackup',
    method: 'post',
    path: '/backups',
    summary: 'Back up the node',
    description:
      'Begins to copy the warehouse in process and the spool, as they are at one instant, into a new folder of ' +
      'SHELFTRACE_BACKUP_DIR, while the service runs; the list tells how far it is. Secrets are not in it.',
    body: jsonBody(backupRequestSchema),
    responses: [
      answer('202', 'It has begun.', backupSchema),
      refusal(
        '409',
        'Conflict: another one is running, the name is in use, or the warehouse is a server.'
      ),
      ...refusals,
    ],
  }),
  admin({
    operationId: 'listBackups',
    method: 'get',
    path: '/backups',
    summary: 'List the backups',
    description: 'What lies in SHELFTRACE_BACKUP_DIR, with its state.',
    body: null,
    responses: [answer('200', 'The backups.', backupListSchema), ...refusals],
  }),
]

export const upkeepOperations: readonly Operation[] = [
  ...setAsideOperations,
  ...misfitOperations,
  ...conversionOperations,
  ...erasureOperations,
  ...backupOperations,
]
