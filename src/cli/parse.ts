// Understands a command line: which command is meant, wherever the options stand, and what was given to it.
import { parseArgs } from 'node:util'
import { suggest } from '../lib/suggest.ts'
import { usageError, type Command, type CommandContext, type Options } from './command.ts'
import { commands, commonOptions, localOptions } from './commands.ts'
import { usageOf } from './usage.ts'

/** What was asked for. Help without a command is about the whole program, or about a group such as `keys`. */
export type Request =
  | { readonly kind: 'version' }
  /** Asked by the script of a shell: what can follow? */
  | { readonly kind: 'complete'; readonly typed: readonly string[] }
  | { readonly kind: 'help'; readonly topic: Command | string | null }
  | {
      readonly kind: 'run'
      readonly command: Command
      readonly options: CommandContext['options']
      readonly positionals: readonly string[]
    }

/** Throws a CliError that says what was not understood. */
export function parseRequest(argv: readonly string[]): Request {
  if (argv[0] === 'complete' && argv[1] === '--') return { kind: 'complete', typed: argv.slice(2) }
  const words = findWords(argv)
  const names = words.map(({ text }) => text)
  if (versionOptions.has(argv[0]) || names[0] === 'version') return { kind: 'version' }
  if (names[0] === 'help') return { kind: 'help', topic: findTopic(names.slice(1)) }
  if (wantsHelp(argv)) return { kind: 'help', topic: findTopic(names) }
  if (names.length === 0) {
    const [first] = argv
    if (first !== undefined) throw usageError(`There is no command. ${seeHelp()}`)
    return { kind: 'help', topic: null }
  }
  const { command, wordCount } = findCommand(names)
  const taken = new Set(words.slice(0, wordCount).map(({ index }) => index))
  const { values, positionals, tokens } = parseRest(
    command,
    argv.filter((_, index) => !taken.has(index))
  )
  if (wordCount === 1 && !argv.includes('--')) checkSlip(command, positionals)
  checkRepeats(command, tokens)
  checkOperands(command, positionals)
  checkOperandChoices(command, positionals)
  checkChoices(command, values)
  return { kind: 'run', command, options: values, positionals }
}

/** `-v` and `-V` are those of other programs; no command has either. */
const versionOptions: ReadonlySet<string | undefined> = new Set(['--version', '-v', '-V'])

/** Every option of every command: while the command is not known, they tell which words are values. */
const allOptions: Options = Object.assign(
  {},
  ...commands.map(({ options }) => options),
  commonOptions
)

interface Word {
  readonly text: string
  readonly index: number
}

/** The words that are neither options nor their values. */
export function findWords(argv: readonly string[]): readonly Word[] {
  const { tokens } = parseArgs({
    args: [...argv],
    options: toNodeOptions(allOptions),
    strict: false,
    tokens: true,
  })
  return tokens.flatMap((token) =>
    token.kind === 'positional' ? [{ text: token.value, index: token.index }] : []
  )
}

function wantsHelp(argv: readonly string[]): boolean {
  const end = argv.indexOf('--')
  const options = end === -1 ? argv : argv.slice(0, end)
  return options.includes('--help') || options.includes('-h')
}

/** The command that the first words name, if there is one. */
export function matchCommand(
  names: readonly string[]
): { readonly command: Command; readonly wordCount: number } | null {
  for (const wordCount of [2, 1]) {
    if (names.length < wordCount) continue
    const name = names.slice(0, wordCount).join(' ')
    const command = commands.find((known) => known.name === name)
    if (command !== undefined) return { command, wordCount }
  }
  return null
}

/** Commands outside of the table. */
const ownWords: ReadonlySet<string> = new Set(['help', 'version'])

function findTopic(names: readonly string[]): Command | string | null {
  const [first] = names
  // The help of the program says all there is about `help` and `version`.
  if (first === undefined || ownWords.has(first)) return null
  if (names.length === 1 && isGroup(first)) return first
  return findCommand(names).command
}

/** Whether several commands begin with the word. */
function isGroup(word: string): boolean {
  return commands.some(({ name }) => name.startsWith(`${word} `))
}

function findCommand(names: readonly string[]): ReturnType<typeof matchCommand> & object {
  const match = matchCommand(names)
  if (match !== null) return match
  const typed = names.slice(0, 2)
  const known = commands.map(({ name }) => name)
  const near = suggest(typed.join(' '), known) ?? suggest(typed[0] ?? '', known)
  const group = known.filter((name) => name.startsWith(`${typed[0] ?? ''} `))
  const hint =
    group.length > 0
      ? ` It is one of: ${group.join(', ')}.`
      : near === null
        ? ''
        : ` Did you mean "${near}"?`
  throw usageError(`There is no command "${typed.join(' ')}".${hint} ${seeHelp()}`)
}

/** `backup lst` would make a backup of that name. With more than one slip, it may well be a name. */
function checkSlip({ name, operands = [] }: Command, [first = '']: readonly string[]): void {
  const others = commands.filter((one) => one.name.startsWith(`${name} `))
  const near = suggest(
    first,
    others.map((one) => one.name.slice(name.length + 1)),
    1
  )
  if (near === null) return
  const other = `If "${first}" is meant, write "${name} -- ${first}". `
  throw usageError(
    `Did you mean "${name} ${near}"? ${operands.length === 0 ? '' : other}${seeHelp(name)}`
  )
}

function seeHelp(name?: string): string {
  return `See "shelftrace help${name === undefined ? '' : ` ${name}`}".`
}

function parseRest(command: Command, args: readonly string[]) {
  const known = optionsOf(command)
  try {
    return parseArgs({
      args: [...args],
      options: toNodeOptions(known),
      allowPositionals: true,
      tokens: true,
    })
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause
    // The first sentence names the option; the rest is advice for programmers.
    const [reason = ''] = cause.message.split(/\. |\n/u)
    const valueless = /^Option '.*--([\w-]+)(?: <value>)?' argument (?:missing|is ambiguous)/u
    const name = valueless.exec(reason)?.[1]
    if (name !== undefined) {
      const rule = `needs a value; one that begins with a dash is written --${name}=-…`
      throw usageError(`--${name} ${rule} ${seeHelp(command.name)}`)
    }
    const typed = /^Unknown option '--([^']+)'/u.exec(reason)?.[1]
    const near = typed === undefined ? null : suggest(typed, Object.keys(known))
    const hint = near === null ? '' : ` Did you mean --${near}?`
    throw usageError(`${reason.replace(/\.$/u, '')}.${hint} ${seeHelp(command.name)}`)
  }
}

/** What may be given to the command. */
export function optionsOf({ options, isLocal }: Command): Options {
  return { ...options, ...(isLocal === true ? localOptions : commonOptions) }
}

function toNodeOptions(options: Options) {
  return Object.fromEntries(
    Object.entries(options).map(([name, { value, isRepeatable = false }]) => [
      name,
      {
        type: value === undefined ? ('boolean' as const) : ('string' as const),
        multiple: isRepeatable,
        ...(name === 'help' && { short: 'h' }),
      },
    ])
  )
}

/** Nobody can tell which of two values is meant. A switch says the same each time. */
function checkRepeats(command: Command, tokens: ReturnType<typeof parseRest>['tokens']): void {
  const known = optionsOf(command)
  const given = new Set<string>()
  for (const token of tokens) {
    if (token.kind !== 'option') continue
    const { name } = token
    const isSingle = known[name]?.value !== undefined && known[name].isRepeatable !== true
    if (isSingle && given.has(name)) throw usageError(`--${name} must be given once`)
    given.add(name)
  }
}

function checkOperands(command: Command, positionals: readonly string[]): void {
  const { operands = [] } = command
  const required = operands.filter(({ isOptional }) => isOptional !== true).length
  if (positionals.length >= required && positionals.length <= operands.length) return
  throw usageError(`Usage: ${usageOf(command)}`)
}

function checkOperandChoices({ operands = [] }: Command, positionals: readonly string[]): void {
  for (const [index, { name, choices }] of operands.entries()) {
    const value = positionals[index]
    if (choices === undefined || value === undefined || choices.includes(value)) continue
    throw usageError(`${name} must be one of: ${choices.join(', ')}`)
  }
}

function checkChoices(command: Command, values: CommandContext['options']): void {
  for (const [name, { choices, isList }] of Object.entries(command.options ?? {})) {
    const value = values[name]
    if (choices === undefined || typeof value !== 'string') continue
    const given = isList === true ? value.split(',').map((word) => word.trim()) : [value]
    if (given.every((word) => choices.includes(word))) continue
    const rule = isList === true ? 'must be among' : 'must be one of'
    throw usageError(`--${name} ${rule}: ${choices.join(', ')}`)
  }
}
