// Failures of the operating system in plain words.

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'this user may not do that',
  EPERM: 'this user may not do that',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the quota of this user is used up',
  EFBIG: 'the file may not grow further',
  ENOENT: 'there is nothing at this path',
  ENOTDIR: 'a part of the path is not a folder',
  EISDIR: 'it is a folder',
  EEXIST: 'a file is in its place',
  ELOOP: 'its links lead in a circle',
  EIO: 'the disk failed',
  EMFILE: 'the limit of open files is reached',
  ENFILE: 'the limit of open files of the machine is reached',
}

/** The code of a failure of the operating system, such as EACCES; null for every other. */
export function systemCode(error: unknown): string | null {
  const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : null
  return typeof code === 'string' && /^E[A-Z0-9_]+$/u.test(code) ? code : null
}

/** Such as `the disk is full (ENOSPC)`. The message of the error if its code is not in the table. */
export function explainSystemError(error: unknown): string {
  const code = systemCode(error)
  if (code !== null && error instanceof Error && Reflect.get(error, 'syscall') === 'uv_cwd') {
    return `the working directory is gone, so relative paths lead nowhere: enter a folder that exists (${code})`
  }
  const reason = code === null ? undefined : reasons[code]
  if (reason !== undefined) return `${reason} (${code})`
  return error instanceof Error ? error.message : String(error)
}

/** The same with the path that it is about, if there is one. */
export function locateSystemError(error: unknown): string {
  const path: unknown = error instanceof Error ? Reflect.get(error, 'path') : null
  const reason = explainSystemError(error)
  return typeof path === 'string' && !reason.includes(path) ? `${path}: ${reason}` : reason
}
