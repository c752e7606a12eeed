import type { FiredPlace } from '../../src/domain/ad-event-verdict.ts'

/** A site that the catalog does not have. */
export const unknownPlace = (): FiredPlace => ({ siteType: null, firesFromBackend: false })
