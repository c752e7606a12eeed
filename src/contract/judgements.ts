// Judging again what a publisher delivered: the request, and how far it is.
import { Type } from 'typebox'
import { closed } from './closed.ts'
import {
  catalogId,
  count,
  flag,
  instantText,
  int32,
  list,
  named,
  optional,
  text,
  wordOf,
  type Of,
} from './fields.ts'
import { compileParser, type Parsed } from './validate.ts'

export const judgementRules = {
  /** A year and a month, as for a rebuild. */
  daysMax: 400,
  /** Not done yet. */
  openMax: 100,
} as const

/** How to take deliveries of which it is not known how they came. */
export const assumptions = ['live-without-address', 'backfill'] as const

export const judgementRequestSchema = closed(
  named('JudgementRequest', {
    publisherId: catalogId('Whose deliveries are judged.'),
    from: instantText('The first instant of receipt.'),
    to: instantText(
      `The first instant after the range; at most ${judgementRules.daysMax} days from \`from\`.`
    ),
    reason: Type.String({ minLength: 1, maxLength: 500, description: 'For the audit.' }),
    dryRun: optional(
      flag({
        default: false,
        description: 'true: nothing is changed; only what would be is counted.',
      })
    ),
    assume: optional(
      wordOf(
        assumptions,
        'How to take deliveries of which it is not known how they came: those of before the upgrade, and ' +
          'those whose address is not kept any more where a source list decides. Absent: they keep their verdict.'
      )
    ),
  })
)

const tallySchema = named('JudgementTally', {
  looked: count('Deliveries that were looked at.'),
  lost: count('Deliveries that counted and do not any more.'),
  gained: count('Deliveries that did not count and do now.'),
  otherReason: count('Deliveries that still do not count, for another reason.'),
  voids: count('Deliveries that an operator voided: they stay void.'),
  unknown: count('Deliveries of which it is not known how they came: they keep their verdict.'),
  final: count(
    'Deliveries of final days whose figures stay: gained ones stay as they are, and lost ones only stop ' +
      'hiding later deliveries of their purchase.'
  ),
})

const amount = Type.String({ description: 'Exact, in this currency.' })

export const judgementSchema = named('Judgement', {
  id: text('Names the judgement.'),
  publisherId: int32(),
  from: instantText(),
  to: instantText(),
  reason: text(),
  dryRun: flag(),
  assume: optional(wordOf(assumptions)),
  policy: Type.Object(
    {
      conversionSources: list(text(), 'Empty: any sender.'),
      requireKey: flag(),
      keys: count('Keys that may count.'),
    },
    { title: 'JudgementPolicy', description: 'By which it is judged: that of the request.' }
  ),
  requestedAt: instantText(),
  state: wordOf(
    ['judging', 'settling', 'done'],
    'judging: a scan is under way. settling: it looks once more for what was shipped by the policy of ' +
      'before. done: a scan that began late enough found nothing more.'
  ),
  doneAt: optional(instantText()),
  scan: count('The scan under way, or the last one.'),
  partsDone: count('Days of this scan that are done; the returns are one more.'),
  parts: count('Parts of a scan.'),
  deliveries: tallySchema,
  returns: tallySchema,
  lostCredit: list(
    Type.Object({
      currency: text(),
      purchases: count('Purchases with credit.'),
      units: Type.Integer(),
      value: amount,
    }),
    'Of a dry run only: the credit that stands now on deliveries that would not count any more.'
  ),
  gainedValue: list(
    Type.Object({ currency: text(), deliveries: count('How many.'), value: amount }),
    'What the gained deliveries of purchases say they are worth. What is credited of it shows once they count.'
  ),
})

export const judgementPageSchema = named('JudgementPage', {
  judgements: list(judgementSchema, 'Newest first.'),
})

export type JudgementRequest = Of<typeof judgementRequestSchema>
export type Judgement = Of<typeof judgementSchema>
export type JudgementPage = Of<typeof judgementPageSchema>
export type Assumption = (typeof assumptions)[number]

const parseBody = compileParser(judgementRequestSchema)
const dayMs = 86_400_000

export function parseJudgementRequest(body: unknown): Parsed<JudgementRequest> {
  const parsed = parseBody(body)
  if (!parsed.ok) return parsed
  const { from, to, reason } = parsed.value
  const [fromMs, toMs] = [Date.parse(from), Date.parse(to)]
  const messages = [
    ...(fromMs < toMs ? [] : ['/from must be before /to']),
    ...(toMs - fromMs <= judgementRules.daysMax * dayMs
      ? []
      : [`/to must be at most ${judgementRules.daysMax} days after /from`]),
    ...(reason.trim() === '' ? ['/reason must say why in visible characters'] : []),
  ]
  return messages.length > 0 ? { ok: false, messages } : parsed
}
