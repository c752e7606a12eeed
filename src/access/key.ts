import type { Scope } from '../contract/admin.ts'

/** A key as the service knows it; the secret itself is known only to its holder. */
export interface AccessKey {
  readonly id: string
  readonly name: string
  readonly advertisers: readonly number[] | 'all'
  readonly scopes: readonly Scope[]
  readonly createdAtMs: number
  readonly expiresAtMs: number | null
  readonly revokedAtMs: number | null
  /** The key of the configuration: every scope and advertiser, and no limit on the rate. */
  readonly isConfigured: boolean
}
