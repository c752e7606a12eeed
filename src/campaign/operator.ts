import { answerJson, refuse, type Answer, type HandlerTable } from '../http/handler.ts'
import { StaticFile } from '../http/static-file.ts'
import type { CampaignDeps } from './deps.ts'
import { jsonType } from './send.ts'

const alive = answerJson(200, { status: 'alive' })
const ready = answerJson(200, { status: 'ready' })

/** This is public, so only the status and the log tell the reasons. */
const notReady: Answer = {
  ...refuse('SERVICE_NOT_READY', ['The service does not take traffic right now.']),
  headers: { 'retry-after': '5' },
}

type OperatorDeps = Pick<CampaignDeps, 'openApi' | 'isReady' | 'metrics'>

/** The operations for load balancers, monitoring and readers of the API. */
export function createOperatorHandlers(deps: OperatorDeps): HandlerTable {
  const document = {
    status: 200,
    headers: jsonType,
    body: { file: new StaticFile(() => JSON.stringify(deps.openApi())) },
  }
  return {
    getOpenApi: () => Promise.resolve(document),
    getHealth: () => Promise.resolve(alive),
    getReadiness: () => Promise.resolve(deps.isReady() ? ready : notReady),
    getMetrics: async () => ({
      status: 200,
      headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' },
      body: { text: await deps.metrics.read() },
    }),
  }
}
