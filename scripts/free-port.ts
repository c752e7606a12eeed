// Ports for services that programs start: free when they are asked for, and still so when the service listens.
import { createServer } from 'node:net'
import { join } from 'node:path'
import { claim } from './claim.ts'

/** Below those that systems give to outgoing connections, which take any port at any time. */
const range = { first: 10_000, count: 20_000 }
const triesMax = 1_000

/** A port on which nobody listens. In a run of tests no other test gets it, also while its service is down. */
export async function freePort(host = '127.0.0.1'): Promise<number> {
  for (let count = 0; count < triesMax; count += 1) {
    const port = range.first + Math.floor(Math.random() * range.count)
    if (isOurs(port) && (await canListen(port, host))) return port
  }
  throw new Error(`no free port on ${host}`)
}

function isOurs(port: number): boolean {
  // Set by scripts/test.ts.
  const folder = process.env['TEST_PORTS']
  return folder === undefined || claim(join(folder, String(port)))
}

export function canListen(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, host, () => server.close(() => resolve(true)))
  })
}
