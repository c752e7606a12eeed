import { statSync } from 'node:fs'

/**
 * ClickHouse in this process ends where its working directory was deleted or cannot be looked at, though it needs
 * none. No relative path leads anywhere from such a directory. To be called before the warehouse is opened.
 */
export function leaveUnusableFolder(): void {
  try {
    statSync(process.cwd())
  } catch {
    process.chdir('/')
  }
}
