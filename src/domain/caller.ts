import { createIsbotFromList, isbot, list } from 'isbot'

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
  /(?:^|[\s(;,/])(?:okhttp|dalvik|alamofire|afnetworking|cronet|volley|retrofit|ktor(?:[ -]client)?|unity(?:player|webrequest)?)(?![a-z])/i

/** They excuse a text that isbot knows, and count everywhere otherwise: desktop and mail programs send them too. */
const appPlatform =
  /(?:^|[\s(;,/])(?:cfnetwork|dart|nsurlsession|react ?native|expo|flutter|xamarin|nativescript)(?![a-z])/i

const browser = /^mozilla\//i

/** A robot may be built on any library. Shopping apps that scan products are not robots, nor are phones by Cubot. */
const robot =
  /(?<!cu)bots?(?![a-z])|crawl|spider|scanner|scrap(?:er|ing|y)|monitor(?:ing)?(?![a-z])|preview|fetcher/i

/** What an app says of the device in brackets, where any word may be the name of a model. */
const device = /\((?:linux;|android|iphone|ipad|ios)[^()]*\)/gi

/** They name themselves as apps do, and only isbot's patterns for bare names know them. */
const serverTool =
  /^(?:mozilla|curl|undici|axios|got|deno|bun|insomnia|ruby|faraday|typhoeus|mechanize|guzzle|symfony|reqwest|hyper|ureq|colly|superagent|k6|vegeta|locust|jmeter|siege|kube-probe|zabbix|prometheus|consul|nagios|datadog|nmap|nikto|sqlmap|nuclei|lavf|aria2)(?![a-z])/i

/** What a program sends that names only itself, robot or not. */
const bareNames = ['Example', 'Example/5', 'Example/5.2.0', 'example/5.2 (example)']

/** isbot without its patterns that take any bare name for a robot's. */
const isKnownByName = createIsbotFromList(
  list.filter((pattern) => {
    const known = new RegExp(pattern, 'i')
    return !bareNames.some((name) => known.test(name))
  })
)

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
  const isLibrary = appLibrary.test(userAgent)
  if (!isbot(userAgent) && (!isLibrary || browser.test(userAgent))) return 'ordinary'
  if (robot.test(userAgent.replace(device, ''))) return 'bot'
  if (isLibrary || appPlatform.test(userAgent)) return 'app-library'
  return isKnownByName(userAgent) || serverTool.test(userAgent) ? 'bot' : 'app-library'
}
