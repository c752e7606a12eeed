// What operators do to single records and to the node: find what does not fit, replay, explain, void,
// erase and back up.
import { Type } from 'typebox'
import {
  backupListSchema,
  backupRequestSchema,
  backupSchema,
  parseBackupRequest,
} from './backups.ts'
import { conflictPageSchema } from './conflicts.ts'
import {
  erasurePageSchema,
  erasureRequestSchema,
  erasureSchema,
  requestedErasureSchema,
  parseErasureRequest,
} from './erasures.ts'
import {
  explanationSchema,
  parseVoidRequest,
  unvoidResponseSchema,
  voidRequestSchema,
  voidResponseSchema,
} from './explanation.ts'
import { catalogId, limitQuerySchema, text } from './fields.ts'
import {
  judgementPageSchema,
  judgementRequestSchema,
  judgementSchema,
  parseJudgementRequest,
} from './judgements.ts'
import { admin, jsonBody, withIds } from './operation.ts'
import { answer } from './responses.ts'
import {
  parseReplayRequest,
  replayRequestSchema,
  replayResultSchema,
  setAsideLimits,
  setAsidePageSchema,
  setAsideQuerySchema,
} from './set-aside.ts'
import { unknownIdsMax, unknownIdsSchema } from './unknown-ids.ts'

const purchasePath = Type.Object({
  publisherId: catalogId(),
  transactionId: text('Percent-encoded.'),
})
const noPurchase = 'nothing is known of such a purchase.'

export const upkeepOperations = withIds({
  listSetAside: admin({
    path: '/set-aside',
    summary: 'List what could not be shipped',
    description:
      'Records that the warehouse refused or that could not be read, with the reason, longest waiting first. ' +
      'Their content is not shown.',
    queryParameters: setAsideQuerySchema,
    success: answer('200', 'One page.', setAsidePageSchema),
  }),
  replaySetAside: admin({
    method: 'post',
    path: '/set-aside/replay',
    summary: 'Ship once more what was set aside',
    description:
      'For when the cause is mended. The records keep their keys and their instants of receipt, so repeating ' +
      `the call changes nothing. At most ${setAsideLimits.replayMax} records a call.`,
    body: jsonBody(replayRequestSchema, parseReplayRequest),
    success: answer('200', 'The records were shipped or set aside again.', replayResultSchema),
  }),
  listConflicts: admin({
    path: '/conflicts',
    summary: 'List purchases and returns whose deliveries differ',
    description:
      'Those of the last 30 days, newest first. One delivery of each counts and the others change nothing; ' +
      'the explanation of the purchase shows them. At most `limit`, and how many there are.',
    queryParameters: limitQuerySchema,
    success: answer('200', 'The newest conflicts.', conflictPageSchema),
  }),
  listUnknownIds: admin({
    path: '/unknown-ids',
    summary: 'List the ids that the catalog does not have',
    description:
      'What events and conversions of the last 30 days name and the catalog lacks, with how many name it; ' +
      `at most ${unknownIdsMax}. Repeats may count until they are merged.`,
    success: answer('200', 'The ids.', unknownIdsSchema),
  }),
  explainConversion: admin({
    path: '/conversions/{publisherId}/{transactionId}',
    summary: 'Explain the attribution of a purchase',
    description:
      'Every delivery of it, and for each line of the one that counts who is credited, by which rule, and ' +
      'why every other touchpoint is not. Decided anew from the events, and compared with what the reports ' +
      'use.',
    pathParameters: purchasePath,
    success: answer('200', 'The explanation.', explanationSchema),
    notFound: noPurchase,
  }),
  voidDelivery: admin({
    method: 'post',
    path: '/conversions/{publisherId}/{transactionId}/void',
    summary: 'Void a delivery of a purchase or of a return',
    description:
      'The delivery does not count any more and the next one does, if there is one. Attributions and sealed ' +
      'days follow within minutes. Repeating it changes nothing.',
    pathParameters: purchasePath,
    body: jsonBody(voidRequestSchema, parseVoidRequest),
    success: answer('200', 'The delivery is void.', voidResponseSchema),
    otherRefusals: ['DAYS_FINAL'],
    notFound: noPurchase,
  }),
  unvoidDelivery: admin({
    method: 'post',
    path: '/conversions/{publisherId}/{transactionId}/unvoid',
    summary: 'Take back the void of a delivery',
    description:
      'The delivery may count again, as if it had never been voided. Only the credit of a shopper who was ' +
      'erased does not come back, since what it was decided from is gone.',
    pathParameters: purchasePath,
    body: jsonBody(voidRequestSchema, parseVoidRequest),
    success: answer('200', 'The delivery is not void any more.', unvoidResponseSchema),
    otherRefusals: ['DAYS_FINAL'],
    notFound: noPurchase,
  }),
  requestJudgement: admin({
    method: 'post',
    path: '/judgements',
    summary: 'Judge again what a publisher delivered',
    description:
      'Every delivery of a purchase or a return that was received in the range is judged by the policy and the ' +
      'keys of now, in the background. What counts, attributions and sealed days follow; final days keep their ' +
      'figures. Voids stay. With `dryRun` nothing is changed. Repeating it changes nothing.',
    body: jsonBody(judgementRequestSchema, parseJudgementRequest),
    success: answer('202', 'The judgement is requested.', judgementSchema),
    otherRefusals: ['OPEN_REQUESTS_EXCEEDED'],
  }),
  getJudgement: admin({
    path: '/judgements/{id}',
    summary: 'Read how far a judgement is',
    description: 'By the id in the answer to the request, with what it found so far.',
    pathParameters: Type.Object({ id: text('The id of the judgement.') }),
    success: answer('200', 'The judgement.', judgementSchema),
    notFound: 'there is no such judgement.',
  }),
  listJudgements: admin({
    path: '/judgements',
    summary: 'List the judgements',
    description: 'The newest `limit` of them, with their progress.',
    queryParameters: limitQuerySchema,
    success: answer('200', 'The newest judgements.', judgementPageSchema),
  }),
  requestErasure: admin({
    method: 'post',
    path: '/erasures',
    summary: 'Erase a shopper',
    description:
      'Removes what ties events to a person, for everything received until now; figures stay. Neither the ' +
      'answer nor the audit repeats an id.',
    body: jsonBody(erasureRequestSchema, parseErasureRequest),
    success: answer('202', 'The erasure is requested.', requestedErasureSchema),
    otherRefusals: ['OPEN_REQUESTS_EXCEEDED'],
  }),
  getErasure: admin({
    path: '/erasures/{id}',
    summary: 'Read how far an erasure is',
    description: 'By the id in the answer to the request.',
    pathParameters: Type.Object({ id: text('The id of the erasure.') }),
    success: answer('200', 'The erasure.', erasureSchema),
    notFound: 'there is no such erasure.',
  }),
  listErasures: admin({
    path: '/erasures',
    summary: 'List the erasures',
    description: 'The newest `limit` of them, with their state.',
    queryParameters: limitQuerySchema,
    success: answer('200', 'The newest erasures.', erasurePageSchema),
  }),
  createBackup: admin({
    method: 'post',
    path: '/backups',
    summary: 'Back up the node',
    description:
      'Begins to copy the warehouse in process and the spool, as they are at one instant, into a new folder of ' +
      'SHELFTRACE_BACKUP_DIR, while the service runs; the list shows the progress. Secrets are not copied.',
    body: jsonBody(backupRequestSchema, parseBackupRequest),
    success: answer('202', 'The backup has begun.', backupSchema),
    otherRefusals: ['BACKUP_RUNNING', 'BACKUP_NAME_TAKEN', 'BACKUP_IMPOSSIBLE'],
  }),
  listBackups: admin({
    path: '/backups',
    summary: 'List the backups',
    description: 'The backups in SHELFTRACE_BACKUP_DIR with their state.',
    success: answer('200', 'The backups.', backupListSchema),
  }),
})
