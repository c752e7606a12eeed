import { hostname } from 'node:os'
import { join } from 'node:path'
import type { Logger } from 'pino'
import type { NotBelievedOfPublisher } from '../../contract/not-believed.ts'
import type { Alert, StatusHistory } from '../../contract/watch.ts'
import type { CampaignAnswer } from '../metrics.ts'
import { rulesFor } from './rules.ts'
import { VitalSignsReader, type VitalSignsDeps } from './vital-signs.ts'
import { Watch } from './watch.ts'
import { Webhook, type WebhookTarget } from './webhook.ts'

export interface OpenWatchDeps extends Omit<VitalSignsDeps, 'notBelieved'> {
  readonly log: Logger
  readonly dataDir: string
  readonly spoolBytesMax: number
  /** Null: nobody is told. */
  readonly alertWebhook: WebhookTarget | null
  readonly notBelieved: () => Promise<readonly NotBelievedOfPublisher[]>
}

export interface OpenWatch {
  readonly alerts: () => readonly Alert[]
  readonly history: () => StatusHistory
  /** Called for each answer of the campaign port. */
  readonly noteAnswer: (answer: CampaignAnswer) => void
  readonly close: () => Promise<void>
}

/** The node looks at itself from now on. */
export function openWatch(deps: OpenWatchDeps): OpenWatch {
  const { log, clock, dataDir, spoolBytesMax, alertWebhook } = deps
  const reader = new VitalSignsReader({
    ...deps,
    notBelieved: async () => (await deps.notBelieved()).map(printGroup),
  })
  const webhook =
    alertWebhook === null ? null : new Webhook({ ...alertWebhook, log, clock, node: hostname() })
  const watch = new Watch({
    clock,
    log,
    path: join(dataDir, 'last-day.json'),
    rules: rulesFor({ spoolBytesMax }),
    readSigns: () => reader.read(),
    onChange: (change) => webhook?.tell(change),
  })
  watch.start()
  return {
    alerts: () => watch.alerts(),
    history: () => watch.history(),
    noteAnswer: (answer) => reader.noteAnswer(answer),
    async close() {
      await watch.close()
      await webhook?.close()
    },
  }
}

function printGroup({ publisherId, kind, reason, deliveries }: NotBelievedOfPublisher): string {
  return `publisher ${publisherId}, ${deliveries} × ${kind}, ${reason}`
}
