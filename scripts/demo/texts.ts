import type { CheckedReport, DayRange } from './check.ts'
import { advertisers, shownAdvertiserId } from './catalog.ts'
import type { Failures } from './failures.ts'
import { countIn, objectIn, type JsonObject } from './json.ts'
import type { Played } from './player.ts'
import type { Service } from './service.ts'
import { reportTable } from './table.ts'

const limits = { differencesShown: 25 } as const

export interface DemoResult {
  readonly isPassed: boolean
  readonly advertiserKey: string
  /** Below the address of the dashboard. */
  readonly signInAddress: string
  readonly range: DayRange
}

/** Prints what was sent, and which of it does not count according to the service. */
export function playedText({ requests }: Played, status: JsonObject): string {
  const sent = [...requests].toSorted(([, one], [, other]) => other - one)
  const uncounted = objectIn(status, 'uncounted')
  return [
    'Requests sent:',
    ...sent.map(([kind, count]) => countLine(count, kind)),
    'Stored, and not counted:',
    ...Object.keys(uncounted).map((reason) => countLine(countIn(uncounted, reason), reason)),
    countLine(countIn(status, 'conflicts'), 'repeats of a purchase or a return with other content'),
    countLine(countIn(status, 'setAside'), 'rows set aside'),
    '',
  ].join('\n')
}

function countLine(count: number, name: string): string {
  return `  ${String(count).padStart(7)}  ${name}`
}

interface Result {
  readonly checked: readonly CheckedReport[]
  readonly failures: Failures
  readonly isPassed: boolean
  readonly seed: number
}

export function resultText({ checked, failures, isPassed, seed }: Result): string {
  const shown = checked.find(({ advertiserId }) => advertiserId === shownAdvertiserId)
  const name = advertisers.find(({ id }) => id === shownAdvertiserId)?.name ?? ''
  const figures = checked.reduce((sum, { comparison }) => sum + comparison.figures, 0)
  const differences = checked.flatMap(({ comparison }) => comparison.differences)
  const hidden = differences.length - limits.differencesShown
  return [
    `Report of ${name} (${shown?.profile ?? ''}), its ${shown?.rows.length ?? 0} rows by ad group:`,
    '',
    reportTable(shown?.rows ?? []),
    '',
    `${figures} figures of ${checked.length} reports compared, ${differences.length} differences.`,
    ...differences.slice(0, limits.differencesShown).map((difference) => `  ${difference}`),
    ...(hidden > 0 ? [`  and ${hidden} more`] : []),
    `${failures.count} answers that were not expected.`,
    ...failures.lines(),
    isPassed ? 'CHECK PASSED' : `CHECK FAILED (seed ${seed})`,
  ].join('\n')
}

export function stillRunning(service: Service, result: DemoResult): string {
  const { advertiserKey, signInAddress, range } = result
  const { trackingUrl, campaignUrl, adminKeyFile } = service
  const report = JSON.stringify({ ...range, page: 0, limit: 20 })
  const conversion = JSON.stringify({
    user_id: 'shopper-1',
    transaction_id: 'my-first-order',
    site_id: 101,
    publisher_id: 10,
    currency: 'EUR',
    products: [{ gtin: 'NO-AD-1', price: 3.99, quantity: 1 }],
  })
  return `
The service goes on running. Open the dashboard, signed in (the link works once):

  ${campaignUrl}/${signInAddress}

  tracking operations    ${trackingUrl}
  campaign operations    ${campaignUrl}
  dashboard              ${campaignUrl}/ (or sign in with one of the keys)
  operator's key         in ${adminKeyFile}
  demo advertiser's key  ${advertiserKey} (advertiser ${shownAdvertiserId})

A report:

  curl -s ${campaignUrl}/v2/advertisers/${shownAdvertiserId}/reports/spa/product.csv \\
    -H 'authorization: Bearer ${advertiserKey}' -H 'content-type: application/json' \\
    -d '${report}'

A conversion:

  curl -s ${trackingUrl}/conversion -H 'content-type: application/json' \\
    -d '${conversion}'

The OpenAPI document:

  curl -s ${campaignUrl}/openapi.json

Ctrl-C stops it.`
}
