import { mkdirSync } from 'node:fs'

/** Makes the folder. True for one caller alone, also among processes: only one of them can make it. */
export function claim(folder: string): boolean {
  try {
    mkdirSync(folder)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}
