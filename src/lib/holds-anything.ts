import { existsSync, readdirSync, statSync } from 'node:fs'

/** Whether there is a file, or a folder with anything in it. One that is mounted has `lost+found` from the beginning. */
export function holdsAnything(path: string): boolean {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return existsSync(path)
  return readdirSync(path).some((name) => name !== 'lost+found')
}
