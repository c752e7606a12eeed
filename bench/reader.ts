// Drains the spool as the engine does, without a warehouse behind it.
import { openFileSpool } from '../src/spool/file-spool.ts'
import { systemClock } from '../src/lib/clock.ts'

const [path = ''] = process.argv.slice(2)
const spool = openFileSpool({ path, bytesMax: 8e9, clock: systemClock })
process.on('disconnect', () => process.exit(0))
for (;;) {
  const batch = spool.read(10_000)
  await spool.remove(batch)
  await new Promise((resolve) => setTimeout(resolve, batch.frames.length === 0 ? 100 : 10))
}
