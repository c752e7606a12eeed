// One tracker process as it runs in production: the real server, the real spool, and an fsync before each 200.
import { openFileSpool } from '../src/spool/file-spool.ts'
import { createIdentityHasher } from '../src/domain/identity.ts'
import { systemClock } from '../src/lib/clock.ts'
import { createTrackingServer } from '../src/tracking/server.ts'
import { createOpener, parseKeyRing } from '../src/tracking-data/tracking-data.ts'
import { announce } from './child.ts'

const [path = '', keyRing = ''] = process.argv.slice(2)
const quiet = { isLevelEnabled: () => false, debug() {}, error: console.error }

const { server } = createTrackingServer({
  spool: openFileSpool({ path, bytesMax: 8e9, clock: systemClock }),
  opener: createOpener(parseKeyRing(keyRing)),
  hashIdentity: createIdentityHasher(Buffer.alloc(32, 7)),
  clock: systemClock,
  isReady: () => true,
  log: quiet,
  trustProxy: false,
})
announce(server)
