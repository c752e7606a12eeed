import type { Command } from '../command.ts'
import { afterOption, limitOption } from './paging.ts'

export const upkeepCommands: readonly Command[] = [
  {
    name: 'set-aside list',
    summary: 'List the records that could not be shipped, and why',
    options: { after: afterOption, limit: limitOption },
    examples: ['shelftrace set-aside list'],
    load: async () => (await import('../set-aside.ts')).setAsideList,
  },
  {
    name: 'set-aside replay',
    summary: 'Ship records again, once their cause is fixed',
    details: 'One call ships up to 1,000 records, the longest waiting first.',
    usage: '--all | --key KEY',
    options: {
      all: { help: 'all records, the oldest first' },
      key: { value: 'KEY', field: 'keys', help: 'one record, by its key in the list' },
    },
    examples: ['shelftrace set-aside replay --all'],
    load: async () => (await import('../set-aside.ts')).setAsideReplay,
  },
  {
    name: 'erase',
    summary: 'Erase a shopper; the id is read from a file',
    details:
      'An id is never an argument, since the list of processes and the history of the shell show those. - reads it ' +
      'from the standard input.',
    operands: [{ name: 'PUBLISHER', field: 'publisherId' }],
    options: {
      'user-id-file': {
        value: 'FILE|-',
        isFile: true,
        field: 'userId',
        help: 'file with the user id',
      },
      'user-logged-in-id-file': {
        value: 'FILE|-',
        isFile: true,
        field: 'userLoggedInId',
        help: 'file with the logged-in id; both may be given',
      },
    },
    sections: [
      { title: 'File', lines: ['One id, on one line, in UTF-8. Blanks around it belong to it.'] },
    ],
    examples: ['shelftrace erase 10 --user-id-file shopper.txt'],
    load: async () => (await import('../erase.ts')).erase,
  },
  {
    name: 'erasures list',
    summary: 'List the erasures and their progress, newest first',
    options: { limit: limitOption },
    examples: ['shelftrace erasures list'],
    load: async () => (await import('../erase.ts')).erasuresList,
  },
  {
    name: 'completion',
    summary: 'Print the script with which a shell completes commands',
    details:
      'The script says how to install it. It completes commands, options, their words and files.',
    operands: [{ name: 'SHELL', choices: ['bash', 'zsh', 'fish'] }],
    examples: [
      'source <(shelftrace completion bash)',
      'source <(shelftrace completion zsh)',
      'shelftrace completion fish > ~/.config/fish/completions/shelftrace.fish',
    ],
    isLocal: true,
    load: async () => (await import('../completion-scripts.ts')).completion,
  },
]
