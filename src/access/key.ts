import type { Scope } from '../contract/admin.ts'

/** The advertisers or the publishers that a key may act for. */
export type PartyIds = readonly number[] | 'all'

/** A key as the service knows it; the secret itself is known only to its holder. */
export interface AccessKey {
  readonly id: string
  readonly name: string
  readonly advertisers: PartyIds
  readonly publishers: PartyIds
  readonly scopes: readonly Scope[]
  readonly createdAtMs: number
  readonly expiresAtMs: number | null
  readonly revokedAtMs: number | null
  /** The key of the configuration: every scope, advertiser and publisher, and no limit on the rate. */
  readonly isConfigured: boolean
}
