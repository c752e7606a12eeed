// Starts a node as a block of a guide says, beside the installation: its files and ports are not ours.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeCertificate } from '../helpers/certificate.ts'
import { freePort } from '../../scripts/free-port.ts'

const patienceMs = 120_000

export interface NodeCommand {
  /** To be run in the folder of an installation. */
  readonly text: string
  readonly installationFolder: string
  /** Of the node alone; is made. */
  readonly folder: string
}

/** Resolves once the node has come to take traffic and has ended; rejects if it never did. */
export async function tryNode({ text, installationFolder, folder }: NodeCommand): Promise<void> {
  mkdirSync(folder)
  const { cert, key } = makeCertificate()
  writeFileSync(join(folder, 'cert.pem'), cert)
  writeFileSync(join(folder, 'key.pem'), key)
  const ports = [await freePort(), await freePort()]
  const child = spawn('bash', ['-euc', text.replaceAll('/etc/shelftrace', folder)], {
    cwd: installationFolder,
    env: {
      PATH: process.env['PATH'],
      SHELFTRACE_DATA_DIR: join(folder, 'data'),
      SHELFTRACE_TRACKING_PORT: String(ports[0]),
      SHELFTRACE_CAMPAIGN_PORT: String(ports[1]),
    },
    detached: true,
  })
  // The whole group, since a shell stands before the supervisor; an error says that all are gone.
  const end = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGTERM')
    } catch (error) {
      assert.ok(error instanceof Error && 'code' in error && error.code === 'ESRCH')
    }
  }
  const timer = setTimeout(end, patienceMs)
  let output = ''
  const takesTraffic = () => output.includes('Shelftrace takes traffic')
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString()
      if (takesTraffic()) end()
    })
  }
  await new Promise((resolve) => child.once('close', resolve))
  clearTimeout(timer)
  assert.ok(takesTraffic(), output)
}
