import { chmodSync, existsSync, lstatSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { systemCode } from './system-error.ts'

/**
 * Makes the folder and those above it, for the own user alone; one that is there stays as it is. Folder by folder,
 * because the `recursive` option of Node never returns below folders that take none, such as `/proc`.
 */
export function makeFolder(path: string): void {
  const above = dirname(path)
  if (above !== path && !existsSync(above)) makeFolder(above)
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    if (isFolder(path)) return
    if (isLink(path)) throw new Error(`${path} is a link to nothing`, { cause: error })
    throw error
  }
}

/** The same, and one that is there is closed to other users, if it belongs to this one. */
export function makePrivateFolder(path: string): void {
  makeFolder(path)
  const { mode, uid } = statSync(path)
  if ((mode & 0o077) === 0 || uid !== process.getuid?.()) return
  try {
    chmodSync(path, mode & 0o7700)
  } catch (error) {
    // Some file systems, such as shares of Windows, have the same mode for all their files, and refuse another.
    if (systemCode(error) === null) throw error
  }
}

/** Of a path that leads nowhere. */
function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}
