import { attributionProfiles } from '../contract/report-request.ts'
import {
  servedAdLimits,
  servedAdReadingSchema,
  type ServedAdReading,
} from '../contract/served-ad.ts'
import { usageError, type Run, type CommandContext } from './command.ts'
import { readInput } from './input.ts'
import type { Layout } from './layout.ts'
import { formatTable, printable } from './table.ts'
import { counted } from './words.ts'

export const link: Run = async (context) => {
  const json = { link: await linkOf(context) }
  const call = { method: 'POST', path: '/tracking-links/read', json } as const
  const reading = await context.call(servedAdReadingSchema, call)
  context.print(reading, formatReading(reading, context.layout))
  return 0
}

/** `-` reads the standard input, since an argument would stay in the history of the shell. */
async function linkOf(context: CommandContext): Promise<string> {
  const [given = ''] = context.positionals
  const text = (given === '-' ? String(await readInput(context)) : given).trim()
  if (text === '' || text.length > servedAdLimits.linkLengthMax) {
    throw usageError(
      `The link must have 1 to ${servedAdLimits.linkLengthMax} characters; - reads it from the standard input`
    )
  }
  return text
}

function formatReading(reading: ServedAdReading, layout: Layout): string {
  return [
    `Ad ${reading.ad.servedAdId}, served at ${reading.ad.servedAt}`,
    '',
    ...adLines(reading),
    '',
    ...eventLines(reading, layout),
    '',
    ...creditLines(reading, layout),
    ...(reading.isFinal
      ? ['', 'The day of serving is final, so its events may have been dropped since.']
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
    ['impressions count until', viewsCountUntil],
    ['clicks count until', clicksCountUntil],
  ] as const
  return facts.map(([name, value]) => `  ${name.padEnd(23)}  ${printable(value)}`)
}

function named(id: number, name: string | null): string {
  return `${id} ${name ?? '(not in the catalog)'}`
}

function eventLines({ events }: ServedAdReading, layout: Layout): readonly string[] {
  if (events.length === 0) return ['No event of it was received.']
  const rows = events.map(({ kind, verdict, receivedAt, dataCentreList }) => [
    kind,
    receivedAt,
    dataCentreList === undefined ? verdict : `${verdict} (list ${dataCentreList})`,
  ])
  return [formatTable(['EVENT', 'FIRST RECEIVED AT', 'VERDICT'], rows, layout)]
}

function creditLines(
  { credits, creditsLeftOut, creditedPurchases }: ServedAdReading,
  layout: Layout
): readonly string[] {
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
    formatTable(header, rows, layout),
    ...(creditsLeftOut === 0 ? [] : [`(${counted(creditsLeftOut, 'more line')})`]),
  ]
}
