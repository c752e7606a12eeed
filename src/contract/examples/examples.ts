// An example of every operation, from one place: the document has them, the guides show the same requests,
// and a test sends each of them to a service.
import { adminExamples } from './admin.ts'
import { campaignExamples } from './campaign.ts'
import { catalogExamples } from './catalog.ts'
import type { Examples } from './example.ts'
import { reportExamples } from './report.ts'
import { trackingExamples } from './tracking.ts'
import { upkeepExamples } from './upkeep.ts'

const metrics = [
  '# HELP shelftrace_spool_bytes What is on disk and not yet shipped.',
  '# TYPE shelftrace_spool_bytes gauge',
  'shelftrace_spool_bytes 0',
  '',
].join('\n')

export const examples: Examples = {
  ...trackingExamples,
  ...reportExamples,
  ...campaignExamples,
  ...catalogExamples,
  ...adminExamples,
  ...upkeepExamples,
  getOpenApi: { answers: { 200: { openapi: '3.1.0', info: {}, paths: {}, components: {} } } },
  getHealth: { answers: { 200: { status: 'alive' } } },
  getReadiness: { answers: { 200: { status: 'ready' } } },
  getMetrics: { answers: { 200: metrics } },
}
