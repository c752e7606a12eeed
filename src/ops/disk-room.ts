// Whether the disk has room for events. Trackers refuse them without it, and most other failures then only follow.
import { existsSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import { diskFreeBytesMin } from '../spool/file-spool.ts'

export function diskComplaints(
  dataDir: string,
  freeBytesOf: (folder: string) => number = readFreeBytes
): readonly string[] {
  const folder = join(dataDir, 'spool')
  // A node that takes no events has none.
  if (!existsSync(folder)) return []
  const freeBytes = freeBytesOf(folder)
  if (freeBytes >= diskFreeBytesMin) return []
  return [
    `events are refused: the disk of ${folder} has ${freeBytes} bytes left, and needs ${diskFreeBytesMin}`,
  ]
}

function readFreeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}
