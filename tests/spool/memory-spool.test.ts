import { openMemorySpool } from '../helpers/memory-spool.ts'
import { spoolContract } from '../contracts/spool.contract.ts'

spoolContract({
  name: 'memory',
  start: async () => {
    await Promise.resolve()
    const frames = new Map<string, Buffer>()
    return {
      open: (options = {}) => openMemorySpool({ clock: Date.now, frames, ...options }),
      plant: async (key, frame) => {
        await Promise.resolve()
        frames.set(key, frame)
      },
      dispose: () => Promise.resolve(),
    }
  },
})
