/**
 * Mints and opens tracking data: one sealed token per served ad. This is the public entry of the
 * library, `shelftrace/tracking-data`, and needs nothing else of the service. The format, for
 * other languages, is in docs/tracking-data.md.
 */
export { parseCostMicros } from './cost.ts'
export {
  activateKey,
  addKey,
  createKeyRing,
  formatKeyRing,
  type KeyRing,
  type NewKeyOptions,
  parseKeyRing,
  removeKey,
  type TrackingKey,
} from './key-ring.ts'
export {
  checkAd,
  createMinter,
  type MintedToken,
  type Minter,
  type MinterOptions,
  type ServedAd,
} from './minter.ts'
export { createOpener, type OpenedToken, type Opener, type OpenRefusal } from './opener.ts'
export type { TrackingData } from './payload.ts'
export type { RandomBytes } from './random-pool.ts'
export { type Fault, TrackingDataError } from './tracking-data-error.ts'
