import type { Judgement } from '../../contract/judgements.ts'
import type { Command, Operand, Option } from '../command.ts'
import { limitOption } from './paging.ts'

/** Those of the contract, which takes longer to load than all of the help. */
const assumptions = ['live-without-address', 'backfill'] as const satisfies readonly NonNullable<
  Judgement['assume']
>[]

const publisher: Operand = { name: 'PUBLISHER', field: 'publisherId' }
const delivery: readonly Operand[] = [
  publisher,
  { name: 'TRANSACTION', field: 'transactionId' },
  { name: 'DELIVERY', field: 'deliveryId' },
]

function reason(help: string): Option {
  return { value: 'TEXT', isRequired: true, help: `${help}; the audit keeps it` }
}

export const figureCommands: readonly Command[] = [
  {
    name: 'explain',
    summary: 'Explain the credit of a purchase: who won, and why',
    operands: [publisher, { name: 'TRANSACTION', field: 'transactionId' }],
    examples: ['shelftrace explain 10 2026-000123'],
    load: async () => (await import('../conversions.ts')).explain,
  },
  {
    name: 'conflicts',
    summary: 'List purchases and returns whose deliveries differ',
    details: 'Of the last 30 days.',
    options: { limit: limitOption },
    examples: ['shelftrace conflicts --limit 20'],
    load: async () => (await import('../lists.ts')).conflicts,
  },
  {
    name: 'unknown-ids',
    summary: 'List ids that events name and the catalog does not have',
    details: 'Of events of the last 30 days.',
    examples: ['shelftrace unknown-ids'],
    load: async () => (await import('../lists.ts')).unknownIds,
  },
  {
    name: 'rebuild',
    summary: 'Attribute and seal days again, from the events',
    options: {
      from: {
        value: 'DAY',
        isRequired: true,
        field: 'startDate',
        help: 'the first day, such as 2026-03-01',
      },
      to: {
        value: 'DAY',
        isRequired: true,
        field: 'endDate',
        help: 'the last day; at most 400 days in all',
      },
    },
    examples: ['shelftrace rebuild --from 2026-03-01 --to 2026-03-31'],
    load: async () => (await import('../figures.ts')).rebuild,
  },
  {
    name: 'void',
    summary: 'Void a delivery of a purchase or return',
    details: 'The next delivery counts instead, if there is one.',
    operands: delivery,
    options: { reason: reason('why it does not count') },
    examples: [
      'shelftrace void 10 2026-000123 0f8fad5bd9cb469fa16570867728950e \\',
      '  --reason "a test order"',
    ],
    load: async () => (await import('../conversions.ts')).voidDelivery,
  },
  {
    name: 'unvoid',
    summary: 'Take back the void of a delivery',
    operands: delivery,
    options: { reason: reason('why it may count') },
    examples: [
      'shelftrace unvoid 10 2026-000123 0f8fad5bd9cb469fa16570867728950e \\',
      '  --reason "a real order"',
    ],
    load: async () => (await import('../conversions.ts')).unvoidDelivery,
  },
  {
    name: 'judge',
    summary: 'Judge again what a publisher delivered, by the policy of now',
    operands: [publisher],
    options: {
      from: {
        value: 'INSTANT',
        isRequired: true,
        help: 'the first instant of receipt, such as 2026-03-01T00:00:00Z',
      },
      to: { value: 'INSTANT', isRequired: true, help: 'the first instant after the range' },
      reason: reason('why'),
      'dry-run': { help: 'tell what would change, and change nothing' },
      wait: { help: 'wait until it is done' },
      assume: {
        value: 'ORIGIN',
        choices: assumptions,
        help: 'how to take deliveries of which it is not known how they came',
      },
    },
    examples: [
      'shelftrace judge 10 --from 2026-03-01T00:00:00Z --to 2026-03-08T00:00:00Z \\',
      '  --reason "the key leaked" --dry-run --wait',
    ],
    load: async () => (await import('../judge.ts')).judge,
  },
  {
    name: 'judgements show',
    summary: 'Show how far a judgement is, and what it found',
    operands: [{ name: 'ID', field: 'id' }],
    examples: ['shelftrace judgements show 3f2504e0-4f89-41d3-9a0c-0305e82c3301'],
    load: async () => (await import('../judge.ts')).judgementsShow,
  },
  {
    name: 'judgements list',
    summary: 'List the judgements and their progress, newest first',
    options: { limit: limitOption },
    examples: ['shelftrace judgements list'],
    load: async () => (await import('../judge.ts')).judgementsList,
  },
]
