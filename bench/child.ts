import type { Server } from 'node:http'

/** Listens on a free loopback port, tells it to the parent, and answers `rss` with megabytes. */
export function announce(server: Server): void {
  server.listen(0, '127.0.0.1', () => {
    const address = server.address()
    if (typeof address === 'object') process.send?.({ port: address?.port })
  })
  process.on('message', (message) => {
    if (message === 'rss') process.send?.({ rssMb: process.memoryUsage.rss() / 1e6 })
  })
  process.on('disconnect', () => process.exit(0))
}
