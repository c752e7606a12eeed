// A small program over the generated types: it compiles only if they say what a caller needs to know.
import type { components, operations } from './openapi.d.ts'

type Schemas = components['schemas']

const filter: Schemas['SpaProductReportFilter'] = { field: 'MARKET', values: ['DE', 7] }
// Nothing that has a default has to be said.
const request: Schemas['SpaProductReportRequest'] = {
  startDate: '2026-03-01',
  endDate: '2026-03-31',
  filters: [filter],
}
type Sent = operations['readSpaProductReport']['requestBody']['content']['application/json']
const sent: Sent = request

type Answers = operations['readSpaProductReport']['responses']
declare const page: Answers[200]['content']['application/json']
export const clicks: bigint = page.rows.reduce((sum, row) => sum + BigInt(row.CLICKS), 0n)
export const rates: readonly (string | null)[] = page.rows.map((row) => row.CLICK_THROUGH_RATE)
export const spend: readonly string[] = page.totals.map((total) => total.AD_SPEND_REVENUE)
// @ts-expect-error A column that does not exist is a fault of the program.
export const misspelt = page.rows[0]?.CLIKS
// @ts-expect-error A day is there with dateBreakdown only.
export const date: string = page.rows[0].DATE

declare const refusal: Answers[429]
export const wait: number = refusal.headers['retry-after']
export const why: 'KEY_RATE_EXCEEDED' | undefined =
  refusal.headers['shelftrace-error-code'] === 'KEY_RATE_EXCEEDED' ? 'KEY_RATE_EXCEEDED' : undefined
export const messages: readonly string[] = refusal.content['application/json'].messages ?? []

export const purchase: Schemas['Conversion'] = {
  user_id: 'c0a8-77',
  transaction_id: '2026-000123',
  site_id: 101,
  publisher_id: 10,
  currency: 'EUR',
  products: [{ gtin: '4006381333931', price: 19.99, quantity: 2 }],
}
export { sent }
