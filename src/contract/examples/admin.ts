// Keys, audit, links, events and figures.
import { keyId, march, gtin, servedAdId, trackingData } from './example.ts'
import { purchase } from './tracking.ts'

const noHash = '0'.repeat(64)
const keyCreated = { action: 'key.create', subject: keyId, keyId: 'key_P8R5N1VC6B2H' }

const keyRequest = {
  name: 'Acme, reports',
  advertisers: [1],
  scopes: ['report:read', 'asset:write', 'site:read'],
}

const servedAd = {
  publisherId: 10,
  siteId: 101,
  marketId: 1,
  advertiserId: 1,
  campaignId: 1001,
  adGroupId: 5001,
  gtin,
  groupId: 'COFFEE',
}

const rates = 'Date, USD, JPY, GBP, \n2 March 2026, 1.1684, 186.75, 0.87058, \n'

export const adminExamples = {
  createKey: { body: keyRequest, answers: { 201: { id: keyId, key: 'st_…' } } },
  inviteKeyHolder: {
    body: { ...keyRequest, validForHours: 72 },
    answers: {
      201: {
        id: keyId,
        code: 'st_…',
        address: '#/invitation/st_…',
        expiresAt: '2026-03-05T10:00:00.000Z',
      },
    },
  },
  admitPerson: {
    body: {
      person: 'anna@example.com',
      advertisers: keyRequest.advertisers,
      scopes: keyRequest.scopes,
    },
    answers: { 201: { id: keyId } },
  },
  acceptInvitation: { answers: { 201: { id: keyId, key: 'st_…' } } },
  listKeys: {
    answers: {
      200: {
        keys: [
          {
            id: keyId,
            ...keyRequest,
            publishers: [],
            createdAt: '2026-03-02T10:00:00.000Z',
          },
        ],
      },
    },
  },
  revokeKey: { path: { id: keyId }, query: { compromisedSince: '2026-03-01T00:00:00Z' } },
  readAudit: {
    query: { from: '2026-03-01T00:00:00Z', action: 'key.create', limit: 100 },
    answers: {
      200: {
        records: [
          {
            at: '2026-03-02T10:00:00.000Z',
            id: '5e3a1c2b-6d4f-4a8b-9c0d-1e2f3a4b5c6d',
            keyName: 'platform',
            details: { name: 'Acme, reports', scopes: ['report:read'] },
            ...keyCreated,
          },
        ],
      },
    },
  },
  exportAudit: {
    query: { from: '2026-03-01T00:00:00Z', limit: 100 },
    answers: {
      200: `${JSON.stringify({
        at: '2026-03-02T10:00:00.000000Z',
        id: '5e3a1c2b-6d4f-4a8b-9c0d-1e2f3a4b5c6d',
        keyName: 'platform',
        ...keyCreated,
        details: '{"name":"Acme, reports"}',
        writer: '2c9d1b7a-4e5f-4d6c-8b0a-9f8e7d6c5b4a',
        sequence: 1,
        previousHash: noHash,
        heads: [],
        hash: '8d969eef6ecad3c29a3a629280e686cf0c3f5d5a86aff3ca12020c923adc6c92',
      })}\n`,
    },
  },
  mintTrackingLinks: {
    body: {
      links: [
        {
          ...servedAd,
          userId: 'c0a8-77',
          userLoggedInId: 'member-4711',
          costPerClick: '0.25',
          costPerMille: '2',
          landingUrl: 'https://shop.example/coffee',
        },
      ],
    },
    answers: {
      200: {
        links: [
          {
            servedAdId,
            trackingData,
            impressionUrl: `https://t.example/impression/${trackingData}`,
            clickUrl: `https://t.example/click/${trackingData}`,
            loadUrl: `https://t.example/load/${trackingData}`,
          },
        ],
      },
    },
  },
  readTrackingLink: {
    body: { link: `https://t.example/click/${trackingData}` },
    answers: {
      200: {
        ad: {
          servedAdId,
          servedAt: '2026-03-02T10:00:00.000Z',
          keyId: '1f8a0c3d',
          ...servedAd,
          currency: 'EUR',
          costPerClick: '0.25',
          costPerMille: '2',
          landingUrl: 'https://shop.example/coffee',
          userId: 'present',
          userLoggedInId: 'present',
        },
        names: {
          publisher: 'Example Shop',
          site: 'Desktop',
          market: 'DE',
          advertiser: 'Acme',
          campaign: 'Spring',
          adGroup: 'Hot drinks',
        },
        countsFrom: '2026-03-02T09:55:00.000Z',
        viewsCountUntil: '2026-03-03T10:00:00.000Z',
        clicksCountUntil: '2026-03-09T10:00:00.000Z',
        events: [{ kind: 'click', verdict: 'counted', receivedAt: '2026-03-02T10:00:30.000Z' }],
        credits: [],
        creditsLeftOut: 0,
        creditedPurchases: 0,
        isFinal: false,
      },
    },
  },
  backfillEvents: {
    body: `${JSON.stringify({
      type: 'conversion',
      receivedAt: '2026-03-04T11:00:00.000Z',
      conversion: { ...purchase, transaction_id: 'old-1' },
    })}\n`,
    answers: { 200: { accepted: 1, refused: [], refusedCount: 0 } },
  },
  getStatus: {
    answers: {
      200: {
        version: '0.1.0',
        warehouse: { kind: 'embedded', available: true, version: '26.7.1.1' },
        spool: { bytes: 0 },
        lagMs: 12,
        clock: { offsetMs: 0 },
        failing: [],
        alerts: [
          {
            name: 'ShelftraceBackupOld',
            severity: 'ticket',
            since: '2026-04-01T08:00:15.000Z',
            summary: 'There is no complete backup from the last 26 hours.',
          },
        ],
        sealed: [{ marketId: 1, completeThrough: '2026-03-31' }],
        uncounted: { bot: 4 },
        conflicts: 0,
        setAside: 0,
        crowds: 0,
        misplaced: 0,
        retention: { days: 400, finalBefore: null, waitsForDay: null },
      },
    },
  },
  getStatusHistory: {
    answers: {
      200: {
        points: [
          {
            at: '2026-04-01T08:01:00.000Z',
            shipped: 5120,
            waitingBytes: 18_432,
            lagMs: 430,
            attributionLagMs: 0,
            reportP95Ms: 85,
          },
        ],
        ended: [
          {
            name: 'ShelftraceSpoolLag',
            severity: 'page',
            since: '2026-04-01T02:10:00.000Z',
            until: '2026-04-01T02:31:15.000Z',
          },
        ],
      },
    },
  },
  putRates: {
    body: rates,
    answers: { 200: { days: 1, rates: 3, firstDay: '2026-03-02', lastDay: '2026-03-02' } },
  },
  listUnconverted: {
    query: { ...march, limit: 100 },
    answers: {
      200: {
        rows: [
          {
            date: '2026-03-02',
            marketId: 1,
            market: 'DE',
            advertiserId: 1,
            currency: 'USD',
            impressions: 310,
            clicks: 14,
            spend: '4.12',
            lines: 1,
            value: '19.99',
          },
        ],
      },
    },
  },
  rebuildDays: { body: march, answers: { 202: { purchases: 12 } } },
}
