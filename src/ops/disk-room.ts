// Whether the disk takes events. Trackers refuse them if it does not, and most other failures then only follow.
import { accessSync, constants } from 'node:fs'
import { join } from 'node:path'
import { freeBytesOf } from '../lib/free-bytes.ts'
import { explainSystemError } from '../lib/system-error.ts'
import { diskFreeBytesMin } from '../spool/file-spool.ts'

/** Every engine has made the folder of the spool at its start. */
export function diskComplaints(
  dataDir: string,
  readFreeBytes: (folder: string) => number = freeBytesOf
): readonly string[] {
  const folder = join(dataDir, 'spool')
  try {
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
    const freeBytes = readFreeBytes(folder)
    if (freeBytes >= diskFreeBytesMin) return []
    return [
      `events are refused: the disk of ${folder} has ${freeBytes} bytes left, and needs ${diskFreeBytesMin}`,
    ]
  } catch (error) {
    return [`events are refused: ${folder} cannot be used: ${explainSystemError(error)}`]
  }
}

/** Whether a warehouse in process can store nothing either; false if the disk cannot be asked. */
export function isDiskFull(
  dataDir: string,
  readFreeBytes: (folder: string) => number = freeBytesOf
): boolean {
  try {
    return readFreeBytes(dataDir) < diskFreeBytesMin
  } catch {
    // The complaints above say so.
    return false
  }
}
