import { spawnSync } from 'node:child_process'

/**
 * The commit that a folder of the source stands at, as nine digits, with `.changed` behind it if tracked files
 * differ from it. Null outside of git, as in an unpacked archive of the source.
 */
export function readCommit(folder: string): string | null {
  const commit = git(folder, 'rev-parse', '--short=9', 'HEAD')
  if (commit === null) return null
  const changed = git(folder, 'status', '--porcelain', '--untracked-files=no')
  return changed === '' ? commit : `${commit}.changed`
}

/** What a command of git prints, without the end of its last line; null if it fails. */
export function git(folder: string, ...args: readonly string[]): string | null {
  const { status, stdout } = spawnSync('git', args, { cwd: folder, encoding: 'utf8' })
  return status === 0 ? stdout.trimEnd() : null
}
