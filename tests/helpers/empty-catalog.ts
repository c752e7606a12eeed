import { createEventRules } from '../../src/catalog/event-rules.ts'
import { emptySnapshot } from '../../src/catalog/snapshot.ts'

/** What a catalog without entries decides. */
export const emptyRules = createEventRules({
  current: () => emptySnapshot,
  refresh: async () => undefined,
})
