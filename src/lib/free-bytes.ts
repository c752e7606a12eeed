import { statfsSync } from 'node:fs'

/** What the disk of a folder has left for users without special rights. */
export function freeBytesOf(folder: string): number {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}
