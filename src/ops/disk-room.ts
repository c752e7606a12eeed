// Whether the disk has room for events. Trackers refuse them without it, and most other failures then only follow.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { freeBytesOf } from '../lib/free-bytes.ts'
import { diskFreeBytesMin } from '../spool/file-spool.ts'

export function diskComplaints(
  dataDir: string,
  readFreeBytes: (folder: string) => number = freeBytesOf
): readonly string[] {
  const folder = join(dataDir, 'spool')
  // A node that takes no events has none.
  if (!existsSync(folder)) return []
  const freeBytes = readFreeBytes(folder)
  if (freeBytes >= diskFreeBytesMin) return []
  return [
    `events are refused: the disk of ${folder} has ${freeBytes} bytes left, and needs ${diskFreeBytesMin}`,
  ]
}
