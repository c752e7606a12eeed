import type { CampaignDeps } from '../../src/campaign/deps.ts'

export const silentMetrics: CampaignDeps['metrics'] = {
  read: () => Promise.resolve(''),
  noteAnswer: () => undefined,
  noteDroppedConnection: () => undefined,
}
