import { existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

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
    if (!isFolder(path)) throw error
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}
