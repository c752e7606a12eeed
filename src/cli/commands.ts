import { auditExport, auditVerify } from './audit.ts'
import { backup, backupList, restore } from './backup.ts'
import { catalogLoad, catalogProducts, catalogShow } from './catalog.ts'
import type { Command } from './command.ts'
import { explain, unvoidDelivery, voidDelivery } from './conversions.ts'
import { erase, erasuresList } from './erase.ts'
import { judge, judgementsList, judgementsShow } from './judge.ts'
import { audit, conflicts, unknownIds } from './lists.ts'
import { eventsLoad, ratesLoad, ratesMissing, rebuild } from './figures.ts'
import { keysCreate, keysList, keysRevoke } from './keys.ts'
import { link, linksMint } from './links.ts'
import { setAsideList, setAsideReplay } from './set-aside.ts'
import { status } from './status.ts'

const serve: Command = {
  name: 'serve',
  usage: '',
  summary: 'Run the service: trackers, engine and warehouse, as the environment configures them',
  run: async ({ terminal }) => {
    // Loaded on demand: no other command needs the service.
    const { runSupervisor } = await import('../supervisor.ts')
    return await runSupervisor({ ...terminal.environment })
  },
}

export const commands: readonly Command[] = [
  serve,
  catalogLoad,
  catalogProducts,
  catalogShow,
  keysCreate,
  keysList,
  keysRevoke,
  linksMint,
  link,
  eventsLoad,
  ratesLoad,
  ratesMissing,
  rebuild,
  setAsideList,
  setAsideReplay,
  conflicts,
  unknownIds,
  explain,
  voidDelivery,
  unvoidDelivery,
  erase,
  erasuresList,
  judge,
  judgementsShow,
  judgementsList,
  status,
  audit,
  auditExport,
  auditVerify,
  backup,
  backupList,
  restore,
]
