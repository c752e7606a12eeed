import { sealBatch, type SealOptions } from '../../src/days/seal.ts'

/** What was touched in the last minutes counts as touched still, so a batch may leave others due without an end. */
const batchesMax = 6

/** Seals and renews what is due, and returns how many market days that were. */
export async function sealDue(deps: SealOptions): Promise<number> {
  let sealedCount = 0
  for (let count = 0; count < batchesMax; count += 1) {
    const sealed = await sealBatch(deps)
    sealedCount += sealed.sealedCount
    if (!sealed.hasMore) break
  }
  return sealedCount
}
