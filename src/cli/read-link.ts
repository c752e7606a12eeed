import { buffer } from 'node:stream/consumers'
import { attributionProfiles } from '../contract/report-request.ts'
import {
  servedAdLimits,
  servedAdReadingSchema,
  type ServedAdReading,
} from '../contract/served-ad.ts'
import { usageError } from './cli-error.ts'
import type { Command, CommandContext } from './context.ts'
import { readAs } from './client.ts'
import { formatTable, printable } from './table.ts'

const readReading = readAs(servedAdReadingSchema)

export const link: Command = {
  name: 'link',
  usage: 'LINK|TRACKING-DATA|-',
  summary:
    'Show what is known of the ad behind a tracking link: what it says, its events, what is credited to it',
  options: {},
  positionalCount: 1,
  run: async (context) => {
    const body = Buffer.from(JSON.stringify({ link: await linkOf(context) }))
    const call = { method: 'POST', path: '/tracking-links/read', body } as const
    const reading = readReading(await context.client().call(call))
    context.print(reading, formatReading(reading))
    return 0
  },
}

/** From the standard input for `-`: what is typed as an argument stays in the history of the shell. */
async function linkOf({ terminal, positionals }: CommandContext): Promise<string> {
  const [given = ''] = positionals
  const text = (given === '-' ? (await buffer(terminal.stdin)).toString('utf8') : given).trim()
  if (text === '' || text.length > servedAdLimits.linkLengthMax) {
    throw usageError(
      `The link must have 1 to ${servedAdLimits.linkLengthMax} characters; - reads it from the standard input`
    )
  }
  return text
}

function formatReading(reading: ServedAdReading): string {
  return [
    `Ad ${reading.ad.servedAdId}, served at ${reading.ad.servedAt}`,
    '',
    ...adLines(reading),
    '',
    ...eventLines(reading),
    '',
    ...creditLines(reading),
    ...(reading.isFinal
      ? ['', 'The day of serving is final: what came of it may have been dropped since.']
      : []),
  ].join('\n')
}

const carried = {
  absent: 'none',
  nobody: 'text that names nobody',
  present: 'yes (not shown)',
} as const

function adLines({
  ad,
  names,
  viewsCountUntil,
  clicksCountUntil,
}: ServedAdReading): readonly string[] {
  const facts = [
    ['publisher', named(ad.publisherId, names.publisher)],
    ['site', named(ad.siteId, names.site)],
    ['market', named(ad.marketId, names.market)],
    ['advertiser', named(ad.advertiserId, names.advertiser)],
    ['campaign', named(ad.campaignId, names.campaign)],
    ['ad group', named(ad.adGroupId, names.adGroup)],
    ['GTIN', ad.gtin],
    ['group', ad.groupId === '' ? 'none' : ad.groupId],
    ['cost per click', `${ad.costPerClick} ${ad.currency}`],
    ['cost per mille', `${ad.costPerMille} ${ad.currency}`],
    ['landing page', ad.landingUrl === '' ? 'none' : ad.landingUrl],
    ['user id', carried[ad.userId]],
    ['logged-in id', carried[ad.userLoggedInId]],
    ['tracking key', ad.keyId],
    ['views count until', viewsCountUntil],
    ['clicks count until', clicksCountUntil],
  ] as const
  return facts.map(([name, value]) => `  ${name.padEnd(18)}  ${printable(value)}`)
}

function named(id: number, name: string | null): string {
  return `${id} ${name ?? '(not in the catalog)'}`
}

function eventLines({ events }: ServedAdReading): readonly string[] {
  if (events.length === 0) return ['No event of it has come in.']
  const rows = events.map(({ kind, verdict, receivedAt }) => [kind, receivedAt, verdict])
  return [formatTable(['EVENT', 'FIRST RECEIVED AT', 'VERDICT'], rows)]
}

function creditLines({
  credits,
  creditsLeftOut,
  creditedPurchases,
}: ServedAdReading): readonly string[] {
  if (creditedPurchases === 0) return ['No purchase is credited to it.']
  const rows = credits.map((one) => [
    String(one.publisherId),
    one.transactionId,
    one.purchasedAt,
    String(one.line),
    `${one.value} ${one.currency}`,
    ...attributionProfiles.map((profile) => one.rules[profile] ?? '-'),
  ])
  const header = [
    'PUBLISHER',
    'TRANSACTION',
    'PURCHASED AT',
    'LINE',
    'VALUE',
    ...attributionProfiles,
  ]
  return [
    `Purchases credited to it: ${creditedPurchases}`,
    formatTable(header, rows),
    ...(creditsLeftOut === 0 ? [] : [`(${creditsLeftOut} more lines)`]),
  ]
}
