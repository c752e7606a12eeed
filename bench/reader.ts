// Drains the spool as the engine does, without a warehouse behind it.
import { openLmdbSpool } from '../src/spool/lmdb-spool.ts'
import { systemClock } from '../src/lib/clock.ts'

const [path = ''] = process.argv.slice(2)
const spool = openLmdbSpool({ path, bytesMax: 8e9, clock: systemClock })
process.on('disconnect', () => process.exit(0))
for (;;) {
  const batch = spool.read(10_000)
  await spool.remove(batch)
  await new Promise((resolve) => setTimeout(resolve, batch.frames.length === 0 ? 100 : 10))
}
