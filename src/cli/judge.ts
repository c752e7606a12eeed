import { setTimeout as sleep } from 'node:timers/promises'
import { limitQuerySchema } from '../contract/fields.ts'
import { judgementPageSchema, judgementSchema, type Judgement } from '../contract/judgements.ts'
import { parsePositiveInt32 } from '../domain/ids.ts'
import { usageError, type Run, type CommandContext } from './command.ts'
import { listCommand } from './list.ts'
import { tell } from './progress.ts'
import { counted, formatCount } from './words.ts'

const pollMs = 1_000

export const judge: Run = async (context) => {
  const publisherId = parsePositiveInt32(context.positionals[0] ?? '')
  if (publisherId === null) throw usageError('PUBLISHER must be the id of a publisher')
  const { assume } = context.options
  const json = {
    publisherId,
    from: required(context, 'from', 'an instant such as 2026-03-01T00:00:00Z'),
    to: required(context, 'to', 'an instant such as 2026-03-02T00:00:00Z'),
    reason: required(context, 'reason', 'why; the audit keeps it'),
    ...(context.options['dry-run'] === true && { dryRun: true }),
    ...(typeof assume === 'string' && { assume }),
  }
  const call = { method: 'POST', path: '/judgements', json } as const
  let judgement = await context.call(judgementSchema, call)
  while (context.options['wait'] === true && judgement.state !== 'done') {
    const { partsDone, parts } = judgement
    tell(context.terminal, `${formatCount(partsDone)} of ${counted(parts, 'part')}`)
    await sleep(pollMs)
    judgement = await read(context, judgement.id)
  }
  tell(context.terminal, null)
  context.print(judgement, formatJudgement(judgement))
  return 0
}

export const judgementsShow: Run = async (context) => {
  const judgement = await read(context, context.positionals[0] ?? '')
  context.print(judgement, formatJudgement(judgement))
  return 0
}

export const judgementsList = listCommand({
  path: '/judgements',
  query: limitQuerySchema,
  answer: judgementPageSchema,
  rows: 'judgements',
  columns: [
    'id',
    'publisherId',
    'from',
    'to',
    'dryRun',
    'state',
    'scan',
    'partsDone',
    'parts',
    'reason',
  ],
  empty: 'Nothing was judged again.',
})

async function read(context: CommandContext, id: string): Promise<Judgement> {
  const path = `/judgements/${encodeURIComponent(id)}`
  return await context.call(judgementSchema, { method: 'GET', path })
}

function required(context: CommandContext, name: string, what: string): string {
  const value = context.options[name]
  if (typeof value !== 'string' || value.trim() === '')
    throw usageError(`--${name} must say ${what}`)
  return value
}

const states = {
  judging: 'is under way',
  settling: 'waits to look once more for what was shipped by the policy of before',
  done: 'is done',
} as const

export function formatJudgement(judgement: Judgement): string {
  const { id, dryRun, state, scan, partsDone, parts, lostCredit, gainedValue } = judgement
  return [
    `Judgement ${id}${dryRun ? ' (dry run, changes nothing)' : ''} ${states[state]}: scan ${scan}, ${formatCount(partsDone)} of ${counted(parts, 'part')}.`,
    formatTally('purchases', judgement.deliveries),
    formatTally('returns', judgement.returns),
    ...lostCredit.map(
      ({ currency, purchases, units, value }) =>
        `  credit that would go: ${value} ${currency}, ${counted(units, 'unit')} of ${counted(purchases, 'purchase')}`
    ),
    ...gainedValue.map(
      ({ currency, deliveries, value }) =>
        `  gained deliveries say: ${value} ${currency} in ${counted(deliveries, 'delivery', 'deliveries')}`
    ),
  ].join('\n')
}

function formatTally(what: string, tally: Judgement['deliveries']): string {
  const { looked, lost, gained, otherReason, voids, unknown, final } = tally
  const rest = Object.entries({
    'other reason': otherReason,
    void: voids,
    'not known how they came': unknown,
    'of final days': final,
  })
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `, ${formatCount(count)} ${name}`)
  return `  deliveries of ${what}: ${formatCount(looked)} looked at, ${formatCount(lost)} lost, ${formatCount(gained)} gained${rest.join('')}`
}
