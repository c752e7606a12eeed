import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** A command as an operator types it; the environment of the tests says nothing to it. */
export async function shelftrace(
  words: readonly string[],
  env: Readonly<Record<string, string>>
): Promise<Ended> {
  const child = spawn(process.execPath, ['dist/cli.js', ...words], {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  return { code: await ended, stdout, stderr }
}
