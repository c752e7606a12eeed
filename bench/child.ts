import type { Server } from 'node:http'

export interface Usage {
  readonly rssMb: number
  readonly cpuMs: number
  /** Time in which the main thread had something to do. */
  readonly busyMs: number
}

/** Listens on a free loopback port, tells it to the parent, and answers `usage` with memory and CPU time. */
export function announce(server: Server): void {
  server.listen(0, '127.0.0.1', () => {
    const address = server.address()
    if (typeof address === 'object') process.send?.({ port: address?.port })
  })
  process.on('message', (message) => {
    if (message !== 'usage') return
    const { user, system } = process.cpuUsage()
    const usage: Usage = {
      rssMb: process.memoryUsage.rss() / 1e6,
      cpuMs: (user + system) / 1_000,
      busyMs: performance.eventLoopUtilization().active,
    }
    process.send?.(usage)
  })
  process.on('disconnect', () => process.exit(0))
}
