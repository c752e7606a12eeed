import { ServiceError } from '../errors.ts'
import { explainSystemError, locateSystemError, systemCode } from '../lib/system-error.ts'
import { findKey, findUrl } from './address.ts'
import { CliError, type Command, type CommandContext, type Terminal } from './command.ts'
import { layoutOf, paint } from './layout.ts'
import { watchOutput } from './output.ts'
import { parseRequest, type Request } from './parse.ts'
import { printable } from './table.ts'
import { nameArguments } from './usage.ts'

/** Runs one command line. Exit code: 0 if it is done, 1 if it failed, 2 if it was not understood. */
export async function runCli(terminal: Terminal): Promise<number> {
  const findOutputFailure = watchOutput(terminal.stdout)
  // There is nowhere left to report it.
  terminal.stderr.on('error', () => undefined)
  const { exitCode, isLog } = await attempt(terminal)
  const failure = isLog ? null : await findOutputFailure()
  if (failure === null) return exitCode
  complain(terminal, `The output could not be written: ${explainSystemError(failure)}.`)
  return Math.max(exitCode, 1)
}

interface Outcome {
  readonly exitCode: number
  /** The output is a log, whose loss is no failure of the command. */
  readonly isLog: boolean
}

async function attempt(terminal: Terminal): Promise<Outcome> {
  try {
    const request = parseRequest(terminal.argv)
    const isLog = request.kind === 'run' && request.command.outputIsLog === true
    return { exitCode: await dispatch(terminal, request), isLog }
  } catch (error) {
    // A failure that the machine or its operator caused takes one line. Anything else is a bug.
    const isOurs = error instanceof CliError || error instanceof ServiceError
    if (!isOurs && systemCode(error) === null) throw error
    complain(terminal, isOurs ? error.message : locateSystemError(error))
    return { exitCode: error instanceof CliError ? error.exitCode : 1, isLog: false }
  }
}

function complain({ stderr, environment, argv }: Terminal, message: string): void {
  const wishes = { isWide: false, isColorless: argv.includes('--no-color') }
  const name = paint(layoutOf(stderr, environment, wishes), 'red', 'shelftrace:')
  // A message may quote what was typed, or what a server said.
  stderr.write(`${name} ${message.split('\n').map(printable).join('\n')}\n`)
}

async function dispatch(terminal: Terminal, request: Request): Promise<number> {
  switch (request.kind) {
    case 'version': {
      const { programVersion } = await import('../ops/version.ts')
      terminal.stdout.write(`${programVersion}\n`)
      return 0
    }
    case 'complete': {
      const { completionText } = await import('./completion.ts')
      terminal.stdout.write(completionText(request.typed))
      return 0
    }
    case 'help': {
      const { helpText } = await import('./help.ts')
      const { stdout, environment, argv } = terminal
      const wishes = { isWide: false, isColorless: argv.includes('--no-color') }
      stdout.write(helpText(request.topic, layoutOf(stdout, environment, wishes)))
      return 0
    }
    case 'run': {
      const run = await request.command.load()
      return await run(contextOf(terminal, request))
    }
  }
}

function contextOf(
  terminal: Terminal,
  {
    command,
    options,
    positionals,
  }: Omit<Extract<ReturnType<typeof parseRequest>, { kind: 'run' }>, 'kind'>
): CommandContext {
  const { environment, stdout } = terminal
  const isJson = options['json'] === true
  const textOf = (value: unknown, text: string) =>
    `${isJson ? JSON.stringify(value, null, 2) : text}\n`
  const write = async (text: string): Promise<boolean> =>
    await new Promise((resolve) => {
      stdout.write(text, (error) => resolve(error === null || error === undefined))
    })
  return {
    terminal,
    options,
    positionals,
    layout: layoutOf(stdout, environment, {
      isWide: options['wide'] === true,
      isColorless: options['no-color'] === true,
    }),
    command: command.name,
    serverUrl: () => findServer(command, options, environment).url,
    call: async (schema, call) => {
      const { callServer } = await import('./client.ts')
      return await callServer(findServer(command, options, environment), schema, call)
    },
    callForText: async (call) => {
      const { callForText } = await import('./client.ts')
      return await callForText(findServer(command, options, environment), call)
    },
    write,
    print: (value, text) => {
      stdout.write(textOf(value, text))
    },
    tryPrint: async (value, text) => await write(textOf(value, text)),
  }
}

function findServer(
  command: Command,
  options: CommandContext['options'],
  environment: Terminal['environment']
) {
  const url = typeof options['url'] === 'string' ? options['url'] : undefined
  const allowPlainHttp = options['allow-plain-http'] === true
  return {
    url: findUrl({ url, allowPlainHttp }, environment),
    key: findKey(environment),
    explain: (message: string) => nameArguments(command, message),
  }
}
