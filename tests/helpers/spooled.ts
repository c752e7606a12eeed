// What a batch of the spool holds, all at once.

import type { SpoolBatch, SpoolPart } from '../../src/spool/spool.ts'

export function entriesOf(batch: SpoolBatch): SpoolPart['entries'] {
  return [...batch.parts()].flatMap(({ entries }) => entries)
}

export function brokenOf(batch: SpoolBatch): SpoolPart['broken'] {
  return [...batch.parts()].flatMap(({ broken }) => broken)
}
