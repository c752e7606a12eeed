// The entry of `shelftrace/client`: for the backends of publishers and the programs of advertisers. It
// knows the contract and nothing of the service, opens no file and reads no environment.
export {
  createCampaignClient,
  type AdGroupPath,
  type CampaignClient,
  type ReportOptions,
  type ReportRowsOptions,
  type SiteLocationsQuery,
} from './campaign-client.ts'
export type { CallOptions } from './caller.ts'
export { ClientError, type ClientErrorCode } from './client-error.ts'
export type { CampaignClientOptions, PublisherClientOptions } from './options.ts'
export {
  createPublisherClient,
  type PublisherClient,
  type SendOptions,
  type SentConversion,
  type SentReturn,
} from './publisher-client.ts'
export type { CsvPage, ReportPage } from './report-page.ts'
export type { ReportHead, ReportQuery, ReportRow } from './report-rows.ts'
export type { Conversion, Product } from '../contract/conversion.ts'
export type { PurchaseReturn, ReturnedProduct } from '../contract/return.ts'
export type { CreativeRequest, DisplayAdGroupAssetResponse } from '../contract/creative.ts'
export type { RefusalCode } from '../contract/refusal-codes.ts'
export type { GroupBody, Grouping } from '../contract/group-request.ts'
export type { JsonGroups, JsonReport, JsonSeries } from '../contract/report-json.ts'
export type { AttributionsQuery, ReportBody } from '../contract/report-request.ts'
export type { Column } from '../contract/report-columns.ts'
export type { SeriesBody } from '../contract/series-request.ts'
export type { Location, SiteLocations } from '../contract/site-locations.ts'
