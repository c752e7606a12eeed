import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { findSupervisor } from '../processes/data-folder.ts'
import { countWaiting } from '../spool/count-waiting.ts'
import { CliError } from './command.ts'
import type { Run } from './command.ts'
import { tell } from './progress.ts'
import { counted, formatSize } from './words.ts'

const lookPauseMs = 250

/** The node ships what waits and ends by itself; its spool says whether it did. */
export const drain: Run = async ({ terminal, print }) => {
  const dataDir = resolve(terminal.environment['SHELFTRACE_DATA_DIR'] ?? './data')
  // A restore, which has the folder as a node has, would be killed by the signal.
  const { refuseHalfRestored } = await import('../backup/restore.ts')
  refuseHalfRestored(dataDir)
  const pid = findSupervisor(dataDir)
  if (pid === null) {
    const { events } = countWaiting(dataDir)
    const left = events === 0 ? 'nothing waits in its spool' : `${counted(events, 'event')} wait`
    throw new CliError(
      `No node runs here with the data folder ${dataDir} (SHELFTRACE_DATA_DIR); ${left}.`
    )
  }
  process.kill(pid, 'SIGUSR2')
  while (findSupervisor(dataDir) === pid) {
    const { events, bytes } = countWaiting(dataDir)
    tell(terminal, `${counted(events, 'event')} wait, ${formatSize(bytes)}`)
    await sleep(lookPauseMs)
  }
  tell(terminal, null)
  const { events, bytes } = countWaiting(dataDir)
  if (events > 0) {
    throw new CliError(
      `The node has ended, and ${counted(events, 'event')} (${formatSize(bytes)}) are left in the spool of ${dataDir}. ` +
        'Keep its disk, and start the node again to ship them.'
    )
  }
  print(
    { dataDir, eventsLeft: 0 },
    `The node has ended, and every event it took is in the warehouse. Its disk is not needed any more.`
  )
  return 0
}
