import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../lib/clock.ts'
import { countRecords } from './frame.ts'
import { SegmentReader } from './segment-reader.ts'

export interface Waiting {
  readonly events: number
  readonly bytes: number
}

/** How many events wait in the spool of a data folder. Only reads, also beside a node that runs. */
export function countWaiting(dataDir: string): Waiting {
  const folder = join(dataDir, 'spool')
  if (!existsSync(folder)) return { events: 0, bytes: 0 }
  const reader = new SegmentReader(folder, systemClock)
  let events = 0
  // What is damaged counts as one.
  for (const { key, bytes } of reader.frames()) events += key === null ? 1 : countRecords(bytes)
  return { events, bytes: events === 0 ? 0 : reader.depth().bytes }
}
