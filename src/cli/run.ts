import { parseArgs } from 'node:util'
import { ServiceError } from '../errors.ts'
import { locateSystemError, systemCode } from '../lib/system-error.ts'
import { findKey, findUrl } from './address.ts'
import { callForText, callServer } from './client.ts'
import {
  CliError,
  usageError,
  type Command,
  type CommandContext,
  type Terminal,
} from './command.ts'
import { commands } from './commands.ts'
import { suggest } from '../lib/suggest.ts'
import { version } from '../ops/version.ts'

const commonOptions = {
  url: { type: 'string' },
  'allow-plain-http': { type: 'boolean' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const

/** Runs one command line. Exit code: 0 if it is done, 1 if it failed, 2 if it was not understood. */
export async function runCli(terminal: Terminal): Promise<number> {
  // A reader such as `head` may close the pipe; the command still runs to its end.
  for (const output of [terminal.stdout, terminal.stderr]) output.on('error', () => undefined)
  try {
    return await dispatch(terminal)
  } catch (error) {
    // A failure that the machine or its operator caused takes one line. Anything else is a bug.
    const isOurs = error instanceof CliError || error instanceof ServiceError
    if (!isOurs && systemCode(error) === null) throw error
    terminal.stderr.write(`shelftrace: ${isOurs ? error.message : locateSystemError(error)}\n`)
    return error instanceof CliError ? error.exitCode : 1
  }
}

async function dispatch(terminal: Terminal): Promise<number> {
  const [first = 'help'] = terminal.argv
  if (first === '--version' || first === 'version') {
    terminal.stdout.write(`${version}\n`)
    return 0
  }
  if (first === 'help' || first === '--help' || first === '-h') {
    const topic = terminal.argv.slice(1).join(' ')
    terminal.stdout.write(
      topic === '' ? overview() : details(findCommand(topic.split(' ')).command)
    )
    return 0
  }
  const { command, rest } = findCommand(terminal.argv)
  return await start(command, rest, terminal)
}

async function start(
  command: Command,
  argv: readonly string[],
  terminal: Terminal
): Promise<number> {
  const { values, positionals } = parse(command, argv)
  if (values['help'] === true) {
    terminal.stdout.write(details(command))
    return 0
  }
  const { positionalCount = 0, optionalCount = 0 } = command
  const surplus = positionals.length - positionalCount
  if (surplus < 0 || surplus > optionalCount) {
    throw usageError(`Usage: shelftrace ${command.name} ${command.usage}`.trimEnd())
  }
  return await command.run(contextOf(terminal, values, positionals))
}

function parse(command: Command, argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      options: { ...commonOptions, ...command.options },
      allowPositionals: true,
    })
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause
    // The first sentence names the option; the rest is advice for programmers.
    const [reason = ''] = cause.message.split('. ')
    throw usageError(`${reason}. See "shelftrace help ${command.name}".`)
  }
}

function contextOf(
  terminal: Terminal,
  options: CommandContext['options'],
  positionals: readonly string[]
): CommandContext {
  const { environment, stdout } = terminal
  const isJson = options['json'] === true
  const url = typeof options['url'] === 'string' ? options['url'] : undefined
  const allowPlainHttp = options['allow-plain-http'] === true
  const findAddress = () => ({
    url: findUrl({ url, allowPlainHttp }, environment),
    key: findKey(environment),
  })
  return {
    terminal,
    options,
    positionals,
    call: async (schema, call) => await callServer(findAddress(), schema, call),
    callForText: async (call) => await callForText(findAddress(), call),
    print: (value, text) => {
      stdout.write(`${isJson ? JSON.stringify(value, null, 2) : text}\n`)
    },
  }
}

function findCommand(argv: readonly string[]): {
  readonly command: Command
  readonly rest: readonly string[]
} {
  for (const wordCount of [2, 1]) {
    const name = argv.slice(0, wordCount).join(' ')
    const command = commands.find((known) => known.name === name)
    if (command !== undefined) return { command, rest: argv.slice(wordCount) }
  }
  const typed = argv.filter((word) => !word.startsWith('-')).slice(0, 2)
  const names = commands.map((command) => command.name)
  const near = suggest(typed.join(' '), names) ?? suggest(typed[0] ?? '', names)
  const group = names.filter((name) => name.startsWith(`${typed[0] ?? ''} `))
  const hint =
    group.length > 0
      ? ` It is one of: ${group.join(', ')}.`
      : near === null
        ? ''
        : ` Did you mean "${near}"?`
  throw usageError(`There is no command "${typed.join(' ')}".${hint} See "shelftrace help".`)
}

function overview(): string {
  const width = Math.max(...commands.map(({ name, usage }) => `${name} ${usage}`.length))
  const lines = commands.map(
    ({ name, usage, summary }) => `  ${`${name} ${usage}`.padEnd(width)}  ${summary}`
  )
  return `${[
    'Usage: shelftrace <command> [options]',
    '',
    ...lines,
    `  ${'help [command]'.padEnd(width)}  Show this, or more about one command`,
    `  ${'--version'.padEnd(width)}  Show the version`,
    '',
    ...commonHelp,
  ].join('\n')}\n`
}

function details({ name, usage, summary }: Command): string {
  return `${[`Usage: shelftrace ${name} ${usage}`.trimEnd(), '', summary, '', ...commonHelp].join('\n')}\n`
}

const commonHelp = [
  'All commands but serve and restore talk to a running server:',
  '  --url URL   its campaign port (default SHELFTRACE_URL, else http://127.0.0.1:8081)',
  '  --json      print the answer as JSON',
  '  --allow-plain-http   send the key even to an http:// address of another machine',
  'The key is read from SHELFTRACE_KEY, else from admin-key in SHELFTRACE_DATA_DIR (default ./data).',
]
