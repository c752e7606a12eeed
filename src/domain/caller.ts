import { isbot } from 'isbot'

/**
 * The program that fired a link, as far as its user agent tells. Whether its events count depends on the site
 * as well: `adEventVerdict` decides.
 */
export const callers = ['ordinary', 'unnamed', 'app-library', 'mail-proxy', 'bot'] as const

export type Caller = (typeof callers)[number]

// The shoppers of a shop have a few thousand user agents; checking one takes microseconds.
const userAgentsMax = 20_000

/** Fetches that nobody sees: isbot misses some of them when the rest of the text is a browser's. */
const preview =
  /facebookexternalhit|facebookcatalog|facebot|slack(?:bot|-imgproxy)|^whatsapp\/|twitterbot|telegrambot|discordbot|linkedinbot|skypeuripreview|(?:link|url) ?preview/i

/** They fetch an image when the mail is opened. Apple's fetches all images, opened or not, so it is not here. */
const mailProxy = /googleimageproxy|yahoomailproxy|seznamemailproxy/i

/**
 * What apps send unless their makers set a name. Libraries that mostly servers use (axios, Java, Go) are not
 * here.
 */
const appLibrary =
  /(?:^|[\s(;,/])(?:okhttp|cfnetwork|dart|dalvik|alamofire|afnetworking|nsurlsession|cronet|volley|retrofit|ktor(?:[ -]client)?|react ?native|expo|flutter|xamarin|nativescript|unity(?:player|webrequest)?)(?![a-z])/i

/** A robot may be built on any library. */
const robot = /bot|crawl|spider|scan|scrap|monitor|preview|fetcher/i

/** Returns a function that tells the caller by its user agent, and remembers its answers. */
export function createCallerReader(): (userAgent: string) => Caller {
  const known = new Map<string, Caller>()
  return (userAgent) => {
    const remembered = known.get(userAgent)
    if (remembered !== undefined) return remembered
    if (known.size >= userAgentsMax) known.clear()
    const answer = readCaller(userAgent)
    known.set(userAgent, answer)
    return answer
  }
}

function readCaller(userAgent: string): Caller {
  if (userAgent.trim() === '') return 'unnamed'
  if (preview.test(userAgent)) return 'bot'
  if (mailProxy.test(userAgent)) return 'mail-proxy'
  if (!isbot(userAgent)) return 'ordinary'
  return appLibrary.test(userAgent) && !robot.test(userAgent) ? 'app-library' : 'bot'
}
