import type { Terminal } from './command.ts'

/** Rewrites one line of the error output, if that is a terminal; null clears it. */
export function tell({ stderr }: Terminal, text: string | null): void {
  if (stderr.isTTY !== true) return
  stderr.write(text === null ? '\r\u001B[K' : `\r\u001B[K${text}`)
}
