import type { AuditTrail } from '../../access/audit-trail.ts'
import { pageLimits } from '../../contract/fields.ts'
import { judgementRules, type JudgementPage } from '../../contract/judgements.ts'
import { upkeepOperations as operations } from '../../contract/upkeep-operations.ts'
import { answerJson, refuse, type Answer, type HandlerTable } from '../../http/handler.ts'
import { handle, handleAt } from '../handle.ts'
import type { AdminDeps } from './deps.ts'

const tooMany: Answer = {
  ...refuse('OPEN_REQUESTS_EXCEEDED', [`at most ${judgementRules.openMax} judgements may be open`]),
  headers: { 'retry-after': '60' },
}

/** Judging again what a publisher delivered; the pipeline does it. */
export function createJudgementHandlers(
  { judgements }: Pick<AdminDeps, 'judgements'>,
  audit: AuditTrail
): HandlerTable {
  const judgementInPath = {
    find: ({ id }: { readonly id: string }) => judgements.find(id),
    notFound: 'There is no such judgement.',
  }
  return {
    ...handle(operations.requestJudgement, async ({ key, body }) => {
      const { publisherId, from, to, reason, dryRun = false, assume = null } = body
      if ((await judgements.countOpen()) >= judgementRules.openMax) return tooMany
      const judgement = await judgements.request({
        publisherId,
        fromMs: Date.parse(from),
        toMs: Date.parse(to),
        reason,
        isDryRun: dryRun,
        assume,
        pinned: await judgements.pinPolicy(publisherId),
        key: key ?? { id: '', name: '' },
      })
      const { id, policy } = judgement
      await audit.record({
        key,
        action: 'judgement.request',
        subject: id,
        details: {
          publisherId,
          from,
          to,
          reason,
          dryRun,
          ...(assume !== null && { assume }),
          policy,
        },
      })
      return answerJson(202, judgement)
    }),
    ...handleAt(operations.getJudgement, judgementInPath, (_call, judgement) =>
      Promise.resolve(answerJson(200, judgement))
    ),
    ...handle(operations.listJudgements, async ({ query: { limit = pageLimits.default } }) => {
      const page: JudgementPage = { judgements: await judgements.list(limit) }
      return answerJson(200, page)
    }),
  }
}
