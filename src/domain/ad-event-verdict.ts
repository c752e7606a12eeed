// Whether an ad event counts, by who fired it, where and when. docs/what-counts.md says why.

import type { Caller } from './caller.ts'
import type { SiteType } from './site-type.ts'
import { eventVerdict, type AdEventKind } from './windows.ts'

/** Every verdict that an ad event may have in the warehouse. */
export const adEventVerdicts = [
  'counted',
  'bot',
  'no-user-agent',
  'data-centre',
  'prefetch',
  'expired',
  'early',
  'too-late',
] as const

/** `too-late` depends on the day on which the event is shipped, and is decided there. */
type AdEventVerdict = Exclude<(typeof adEventVerdicts)[number], 'too-late'>

type CallerVerdict = Extract<AdEventVerdict, 'bot' | 'no-user-agent' | 'data-centre'>

export interface FiredEvent {
  readonly kind: AdEventKind
  readonly receivedAtMs: number
  readonly isPrefetch: boolean
  /** Null if nobody noted it: it says nothing. */
  readonly caller: Caller | null
  readonly isFromDataCentre: boolean
}

/** What the catalog says of the site that showed the ad. */
export interface FiredPlace {
  /** Null: the catalog does not know the site. */
  readonly siteType: SiteType | null
  /** The publisher's backend fires the links for its shoppers. */
  readonly firesFromBackend: boolean
}

/** Whether an event counts, apart from whether its day was final when it was shipped. */
export function adEventVerdict(
  event: FiredEvent,
  servedAtMs: number,
  place: FiredPlace
): AdEventVerdict {
  const ofCaller = place.firesFromBackend ? null : callerVerdict(event, place.siteType)
  if (ofCaller !== null) return ofCaller
  if (event.isPrefetch) return 'prefetch'
  return eventVerdict(event.kind, servedAtMs, event.receivedAtMs)
}

function callerVerdict(event: FiredEvent, siteType: SiteType | null): CallerVerdict | null {
  const ofNetwork = event.isFromDataCentre ? ('data-centre' as const) : null
  switch (event.caller) {
    case 'bot':
      return 'bot'
    case 'unnamed': {
      // Every browser names itself. Apps and mail programs need not, and a site that is not known may be theirs.
      const isForBrowsers = siteType === 'DESKTOP' || siteType === 'MOBILE_WEB'
      return isForBrowsers ? 'no-user-agent' : ofNetwork
    }
    case 'app-library': {
      const isApp = siteType === 'MOBILE_APP' || siteType === 'TABLET_APP'
      return isApp ? ofNetwork : 'bot'
    }
    case 'mail-proxy':
      // It stands in a data centre by its nature. It shows images to people, but never clicks for them.
      return siteType === 'EMAIL' && event.kind !== 'click' ? null : 'bot'
    case 'ordinary':
    case null:
      return ofNetwork
  }
}
