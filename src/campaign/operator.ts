import { answerJson, refuse, type HandlerTable } from '../access/handler.ts'
import type { CampaignDeps } from './deps.ts'

const alive = answerJson(200, { status: 'alive' })
const ready = answerJson(200, { status: 'ready' })

type OperatorDeps = Pick<CampaignDeps, 'openApi' | 'readiness' | 'metrics'>

/** What operators and their machines ask the port. */
export function createOperatorHandlers(deps: OperatorDeps): HandlerTable {
  // Written once: the document is the same for everyone and 100 KB long.
  const document = {
    status: 200,
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body: { text: JSON.stringify(deps.openApi) },
  }
  return {
    getOpenApi: () => Promise.resolve(document),
    getHealth: () => Promise.resolve(alive),
    getReadiness: () => Promise.resolve(answerReadiness(deps.readiness())),
    getMetrics: async () => ({
      status: 200,
      headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' },
      body: { text: await deps.metrics.read() },
    }),
  }
}

function answerReadiness(reasons: readonly string[]) {
  if (reasons.length === 0) return ready
  return { ...refuse(503, reasons), headers: { 'retry-after': '5' } }
}
