import { statSync } from 'node:fs'

/**
 * ClickHouse in this process ends where its working directory was deleted or cannot be looked at, and with a TZ that it
 * does not know, though it needs neither. Call this before it is loaded. No relative path leads anywhere from such a
 * directory.
 */
export function settleForClickHouse(): void {
  process.env['TZ'] = 'UTC'
  try {
    statSync(process.cwd())
  } catch {
    process.chdir('/')
  }
}
