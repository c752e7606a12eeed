// Every command, in the order and the groups of the help.
import type { Command, Options } from './command.ts'
import { accessCommands } from './commands/access.ts'
import { catalogCommands } from './commands/catalog.ts'
import { figureCommands } from './commands/figures.ts'
import { historyCommands } from './commands/history.ts'
import { runningCommands } from './commands/running.ts'
import { upkeepCommands } from './commands/upkeep.ts'

export const groups: readonly { readonly title: string; readonly commands: readonly Command[] }[] =
  [
    { title: 'Run it', commands: runningCommands },
    { title: 'Catalog and exchange rates', commands: catalogCommands },
    { title: 'Links and past events', commands: historyCommands },
    { title: 'Figures: why they are as they are, and how to mend them', commands: figureCommands },
    { title: 'Keys and audit', commands: accessCommands },
    { title: 'Upkeep', commands: upkeepCommands },
  ]

export const commands: readonly Command[] = groups.flatMap((group) => group.commands)

/** Options of the commands that talk to no server. */
export const localOptions: Options = {
  json: { help: 'print the result as JSON, with exact numbers' },
  wide: { help: 'print tables whole, however narrow the terminal' },
  'no-color': { help: 'no colors; NO_COLOR=1 does the same, FORCE_COLOR=1 forces them' },
  help: { help: 'show help, of a command if one is named (-h)' },
}

export const commonOptions: Options = {
  url: {
    value: 'URL',
    help: 'campaign port of the server (default SHELFTRACE_URL, else http://127.0.0.1:8081)',
  },
  'allow-plain-http': { help: 'send the key even to an http:// address of another machine' },
  ...localOptions,
}
