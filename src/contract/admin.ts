// Bodies of the admin API: keys, tracking links, status, rebuilds and rates. Shapes and bounds only: handlers
// check what needs the catalog, the clock or a key.
import { Type } from 'typebox'
import { closed } from './closed.ts'
import {
  catalogId,
  count,
  dateText,
  decimalText,
  flag,
  instantText,
  int32,
  list,
  plainNameText,
  named,
  nullOr,
  optional,
  text,
  uuidText,
  wordOf,
  type Of,
} from './fields.ts'
import { believeEverybodySchema, notBelievedOfAllSchema } from './not-believed.ts'
import { eventRangeFaults } from './parameters.ts'
import { compileParser } from './validate.ts'
import { alertSchema } from './watch.ts'

export const scopes = [
  'report:read',
  'asset:write',
  'site:read',
  'link:mint',
  'events:write',
  'metrics:read',
  'intake:read',
  'delivery:write',
  'admin',
] as const

export type Scope = (typeof scopes)[number]

export const linksMax = 1_000

function partyIds(kind: 'advertiser' | 'publisher') {
  return Type.Union(
    [Type.Literal('all'), Type.Array(catalogId(), { minItems: 1, maxItems: 10_000 })],
    {
      title: `"all" or a list of ${kind} ids`,
      description: `The ${kind}s that the key may act for; none when absent.`,
    }
  )
}

const listedPartyIds = Type.Union([Type.Literal('all'), Type.Array(catalogId())])

export const keyRequestFields = {
  name: plainNameText('For people: who holds the key.'),
  advertisers: optional(partyIds('advertiser')),
  publishers: optional(partyIds('publisher')),
  scopes: Type.Array(wordOf(scopes), { minItems: 1, maxItems: 20 }),
  expiresAt: optional(instantText()),
}

export const keyRequestSchema = closed(named('KeyRequest', keyRequestFields))

export const keyResponseSchema = named('KeyResponse', {
  id: Type.String(),
  key: text('Shown once; only its hash is stored.'),
})

export const keyListSchema = named('KeyList', {
  keys: Type.Array(
    Type.Object({
      id: Type.String(),
      name: Type.String(),
      advertisers: listedPartyIds,
      publishers: listedPartyIds,
      scopes: list(wordOf(scopes), 'Of an invitation: those that its key will have.'),
      signOn: optional(
        flag(
          'The access of a person whom the sign-on of a proxy names; `name` is the e-mail address.'
        )
      ),
      invited: optional(flag('Not accepted yet: it opens nothing, and `expiresAt` is its end.')),
      createdAt: instantText(),
      expiresAt: optional(instantText()),
      revokedAt: optional(instantText()),
      compromisedSince: optional(instantText('No delivery counts by it that was received since.')),
    })
  ),
})

function cost(description: string) {
  return decimalText({ description })
}

export const linkRequestSchema = named('TrackingLinkRequest', {
  publisherId: catalogId(),
  siteId: catalogId(),
  marketId: catalogId(),
  advertiserId: catalogId(),
  campaignId: catalogId(),
  adGroupId: catalogId(),
  gtin: Type.String({ minLength: 1, maxLength: 60 }),
  groupId: optional(Type.String({ maxLength: 60 })),
  userId: Type.String({ maxLength: 128 }),
  userLoggedInId: optional(Type.String({ minLength: 1, maxLength: 128 })),
  currency: optional(
    Type.String({ maxLength: 3, description: "The market's currency when absent." })
  ),
  costPerClick: optional(cost('Charged per counted click.')),
  costPerMille: optional(cost('Charged per thousand counted impressions.')),
  landingUrl: optional(
    Type.String({
      maxLength: 2048,
      format: 'uri',
      description:
        'Where a click leads. If the publisher lists landingHosts, the host must be one of them.',
    })
  ),
  servedAt: optional(instantText('Now when absent; at most 35 days ahead.')),
})

export const trackingLinksRequestSchema = closed(
  named('TrackingLinksRequest', {
    links: Type.Array(linkRequestSchema, { minItems: 1, maxItems: linksMax }),
  })
)

export const trackingLinksResponseSchema = named('TrackingLinksResponse', {
  links: Type.Array(
    named('TrackingLink', {
      servedAdId: uuidText(),
      trackingData: Type.String(),
      impressionUrl: Type.String({ format: 'uri' }),
      clickUrl: Type.String({ format: 'uri' }),
      loadUrl: Type.String({ format: 'uri' }),
    })
  ),
})

export const statusResponseSchema = named('StatusResponse', {
  version: Type.String(),
  at: optional(instantText('When this was answered, by the clock of this node.')),
  warehouse: Type.Object({
    kind: wordOf(['embedded', 'server']),
    available: flag('false: it does not answer, and what only it knows is absent below.'),
    version: optional(Type.String()),
  }),
  spool: Type.Object({
    bytes: count('What is on disk and not yet shipped.'),
  }),
  lagMs: count('Age of the oldest event that is not yet shipped.'),
  attribution: optional(
    Type.Object({
      lagMs: count('How long the oldest purchase that is due for attribution has waited.'),
      settledThrough: nullOr(
        instantText(),
        'What this node took before this instant is shipped, and what was shipped before it is attributed; null: not known yet.'
      ),
    })
  ),
  days: optional(
    Type.Object({
      unsealed: count('Days of markets that are over and not sealed yet. Reports have them.'),
      renewing: count(
        'Sealed days of markets that wait to be sealed again because later input may have changed them.'
      ),
    })
  ),
  clock: Type.Object({
    offsetMs: nullOr(
      Type.Integer(),
      "By how much this node's clock is ahead of the warehouse's; null while it is not known."
    ),
  }),
  dataCentres: optional(
    Type.Object(
      {
        version: nullOr(
          Type.String(),
          'The first 12 digits of the SHA-256 of the file; null: no list was fit yet.'
        ),
        ranges: count('Networks in it.'),
        faults: list(Type.String(), 'Why the file as it is now is not taken.'),
      },
      { description: 'The list of data centres as this node has it; absent without one.' }
    )
  ),
  failing: list(
    Type.String(),
    'Steps of the pipeline whose last try failed, a clock that is far off, and a disk that takes no events.'
  ),
  nodes: optional(
    list(
      named('SeenNode', {
        id: text('Of its data folder.'),
        name: text('Of its machine.'),
        roles: list(Type.String(), 'What it does: tracker, engine.'),
        state: wordOf(
          ['living', 'silent', 'missing'],
          'silent: not seen for 30 seconds without having left, so its spool may hold events and sealing waits for it. missing: silent for six hours; sealing goes on without it.'
        ),
        isThis: flag('The node that answers.'),
        seenAt: instantText("By the warehouse's clock."),
        shippedThrough: instantText('What it received before this instant is in the warehouse.'),
        waitingBytes: count('What its spool held when it was last seen.'),
      }),
      'The nodes of this warehouse, the last seen first; absent while they are not known.'
    )
  ),
  alerts: optional(
    list(
      alertSchema,
      'What the node finds wrong with itself, by the rules of docs/alerts.yaml; pages first, then the oldest.'
    )
  ),
  sealed: optional(
    Type.Array(
      Type.Object({
        marketId: int32(),
        market: optional(text('Its code.')),
        completeThrough: nullOr(dateText(), 'The last day from which on back all is sealed.'),
      })
    )
  ),
  uncounted: optional(
    Type.Record(Type.String(), Type.Integer(), {
      description: 'Events that do not count, by reason.',
    })
  ),
  conflicts: optional(count('Repeats of a purchase or of a return with other content.')),
  setAside: optional(count('Records that could not be shipped and wait to be replayed.')),
  contradictions: optional(
    list(
      named('ContradictingEvents', {
        publisherId: int32(),
        rule: text('The rule of the catalog that they break.'),
        count: count('Ad events that wait.'),
        firstSetAsideAt: instantText(),
        lastSetAsideAt: instantText(),
      }),
      'Ad events among those set aside that contradict the catalog, most first; at most 200 rows.'
    )
  ),
  crowds: optional(
    count('Ids with more touchpoints in the last 15 days than a person makes; they join nothing.')
  ),
  notBelieved: optional(notBelievedOfAllSchema),
  believeEverybody: optional(believeEverybodySchema),
  misplaced: optional(
    count('Counted events of the last 7 days whose token names a campaign of another advertiser.')
  ),
  retention: optional(
    Type.Object({
      days: count('How long data is kept.'),
      finalBefore: nullOr(
        dateText(),
        'Older days are final: their figures stay, their events are dropped.'
      ),
      waitsForDay: nullOr(
        dateText(),
        'Nothing older than this day is dropped before it is sealed in every market.'
      ),
    })
  ),
})

/** A year and a month: what an engine can compute again overnight. */
const rebuildDaysMax = 400

export const rebuildRequestSchema = closed(
  named('RebuildRequest', {
    startDate: dateText(),
    endDate: dateText(`At most ${rebuildDaysMax} days from the start, both included.`),
  })
)

export const rebuildResponseSchema = named('RebuildResponse', {
  purchases: count('Purchases that are attributed again.'),
})

export const ratesResultSchema = named('RatesResult', {
  days: count('Days of which rates were stored.'),
  rates: count('Stored rates, over all currencies.'),
  firstDay: optional(dateText()),
  lastDay: optional(dateText()),
})

const parseRebuild = compileParser(rebuildRequestSchema)

export function parseRebuildRequest(value: unknown): ReturnType<typeof parseRebuild> {
  const parsed = parseRebuild(value)
  const messages = parsed.ok ? eventRangeFaults(parsed.value, rebuildDaysMax, '/') : []
  return messages.length > 0 ? { ok: false, messages } : parsed
}

export type RatesResult = Of<typeof ratesResultSchema>
export type KeyRequest = Of<typeof keyRequestSchema>
export type KeyResponse = Of<typeof keyResponseSchema>
export type KeyList = Of<typeof keyListSchema>
export type LinkRequest = Of<typeof linkRequestSchema>
export type TrackingLinksResponse = Of<typeof trackingLinksResponseSchema>
export type StatusResponse = Of<typeof statusResponseSchema>

export const parseKeyRequest = compileParser(keyRequestSchema)
export const parseTrackingLinksRequest = compileParser(trackingLinksRequestSchema)
