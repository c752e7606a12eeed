// Single records and the node: what operators look at, mend, erase and back up.
import { deliveryId, erasureId, gtin, judgementId, purchasePath } from './example.ts'

const receivedAt = '2026-03-04T11:00:00.000Z'
const noTally = { looked: 0, lost: 0, gained: 0, otherReason: 0, voids: 0, unknown: 0, final: 0 }

const judgementRequest = {
  publisherId: 10,
  from: '2026-03-01T00:00:00Z',
  to: '2026-04-01T00:00:00Z',
  reason: 'The key of the shop was leaked.',
  dryRun: true,
}
const judgement = {
  id: judgementId,
  ...judgementRequest,
  policy: { conversionSources: [], requireKey: true, keys: 1 },
  requestedAt: '2026-04-02T08:00:00.000Z',
  state: 'judging',
  scan: 1,
  partsDone: 0,
  parts: 32,
  deliveries: noTally,
  returns: noTally,
  lostCredit: [],
  gainedValue: [],
}
const erasure = {
  id: erasureId,
  publisherId: 10,
  state: 'requested',
  requestedAt: '2026-04-02T08:00:00.000Z',
  watchedUntil: '2026-05-02T08:00:00.000Z',
}
const backup = { name: '2026-04-02', folder: '/srv/backups/2026-04-02', state: 'running' }

const line = {
  line: 1,
  gtin,
  groupId: 'COFFEE',
  brand: 'Acme',
  price: 19.99,
  quantity: 2,
  value: '39.98',
  verdict: 'valid',
}

const explanation = {
  ...purchasePath,
  deliveries: [
    {
      deliveryId,
      receivedAt,
      siteId: 101,
      currency: 'EUR',
      standing: 'counted',
      isConflict: false,
      lineCount: 1,
      lines: [line],
    },
  ],
  deliveriesLeftOut: 0,
  returns: [],
  returnsLeftOut: 0,
  countedDeliveryId: deliveryId,
  ids: [{ kind: 'user', touchpoints: 0, isCrowd: false }],
  lines: [
    {
      ...line,
      remainingQuantity: 2,
      remainingValue: '39.98',
      credits: { CLK_14_DAYS: null, IMP_1_DAY: null, IMP_1_DAY_CLK_14_DAYS: null },
      candidates: [],
      candidatesLeftOut: 0,
    },
  ],
  linesLeftOut: 0,
  attribution: {
    readAt: '2026-03-04T11:00:05.000Z',
    deliveryId,
    isFrozen: false,
    creditedLines: 0,
  },
  isPending: false,
  isUpToDate: true,
  names: {
    publisher: 'Example Shop',
    markets: [{ id: 1, code: 'DE', timeZone: 'Europe/Berlin' }],
    campaigns: [],
    adGroups: [],
    products: [{ marketId: 1, gtin, title: 'Coffee' }],
    sites: [{ id: 101, name: 'Example Shop desktop' }],
    advertisers: [],
  },
}

const voidRequest = { deliveryId, reason: 'A test order of the shop.' }

export const upkeepExamples = {
  listSetAside: {
    query: { limit: 100 },
    answers: {
      200: {
        records: [
          {
            key: '019559a1b2c3d4e5f60718293a4b5c6d',
            setAsideAt: '2026-03-04T11:00:02.000Z',
            type: 'ad-event',
            receivedAt,
            reason: 'the campaign belongs to another advertiser',
            publisherId: 10,
            rule: 'foreign-campaign',
          },
        ],
      },
    },
  },
  replaySetAside: {
    body: { all: true },
    answers: { 200: { replayed: 1, setAsideAgain: 0, unknown: 0, remaining: 0 } },
  },
  listConflicts: {
    query: { limit: 100 },
    answers: {
      200: {
        conflicts: [
          {
            kind: 'purchase',
            ...purchasePath,
            deliveries: 2,
            voidDeliveries: 0,
            firstReceivedAt: receivedAt,
            lastReceivedAt: '2026-03-04T11:05:00.000Z',
          },
        ],
        total: 1,
      },
    },
  },
  listUnknownIds: {
    answers: {
      200: {
        ids: [{ kind: 'site', id: 110, parentId: 10, events: 0, conversions: 3 }],
        total: 1,
        complete: true,
      },
    },
  },
  explainConversion: { path: purchasePath, answers: { 200: explanation } },
  voidDelivery: {
    path: purchasePath,
    body: voidRequest,
    answers: {
      200: { deliveryId, voidedAt: '2026-03-05T08:00:00.000Z', countedDeliveryId: null },
    },
  },
  unvoidDelivery: {
    path: purchasePath,
    body: { ...voidRequest, reason: 'It was a real order after all.' },
    answers: {
      200: { deliveryId, judgedAt: '2026-03-05T09:00:00.000Z', countedDeliveryId: deliveryId },
    },
  },
  requestJudgement: { body: judgementRequest, answers: { 202: judgement } },
  getJudgement: { path: { id: judgementId }, answers: { 200: judgement } },
  listJudgements: { query: { limit: 100 }, answers: { 200: { judgements: [judgement] } } },
  requestErasure: {
    body: { publisherId: 10, userId: 'c0a8-77', userLoggedInId: 'member-4711' },
    answers: { 202: { ...erasure, notStored: ['userLoggedInId'] } },
  },
  getErasure: { path: { id: erasureId }, answers: { 200: erasure } },
  listErasures: { query: { limit: 100 }, answers: { 200: { erasures: [erasure] } } },
  createBackup: { body: { name: '2026-04-02' }, answers: { 202: backup } },
  listBackups: { answers: { 200: { backups: [backup] } } },
}
