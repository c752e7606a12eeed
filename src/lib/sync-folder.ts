import { closeSync, fsyncSync, openSync } from 'node:fs'

/** The names in the folder outlast a loss of power from now on, as their files do that were synced themselves. */
export function syncFolder(path: string): void {
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}
