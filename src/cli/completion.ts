// What can follow on a command line that is being typed. The scripts of the shells ask for it with
// `shelftrace complete -- WORD…`, the last word being the one at the cursor.
import type { Command, Option, Options } from './command.ts'
import { commands, commonOptions } from './commands.ts'
import { findWords, matchCommand, optionsOf } from './parse.ts'

interface Candidate {
  readonly value: string
  readonly help: string
}

/** Candidates begin with the word at the cursor. `files`: the shell completes the path of a file. */
type Completion = readonly Candidate[] | 'files'

/** A line for each candidate, with its help behind a tab; `:files` asks the shell to complete a path. */
export function completionText(typed: readonly string[]): string {
  const found = complete(typed)
  if (found === 'files') return ':files\n'
  return found.map(({ value, help }) => `${value}\t${help}\n`).join('')
}

function complete(typed: readonly string[]): Completion {
  const current = typed.at(-1) ?? ''
  const before = typed.slice(0, -1)
  const words = findWords(before).map(({ text }) => text)
  const match = matchCommand(words)
  const options = match === null ? commonOptions : optionsOf(match.command)

  const opened = openedOption(before, options)
  if (opened !== null) return valuesOf(opened, { prefix: '', current })
  const [, name = '', value] = /^--([^=]+)=(.*)$/su.exec(current) ?? []
  if (value !== undefined) {
    const option = options[name]
    return option === undefined ? [] : valuesOf(option, { prefix: `--${name}=`, current: value })
  }
  if (current.startsWith('-') && current !== '-') return optionNames(options, { before, current })
  return startingWith(current, wordsAfter(words), operandOf(match, words.length))
}

/** The option whose value comes next. */
function openedOption(before: readonly string[], options: Options): Option | null {
  const [, name = ''] = /^--([^=]+)$/u.exec(before.at(-1) ?? '') ?? []
  const option = options[name]
  return option?.value === undefined ? null : option
}

interface ValueTyped {
  /** What stands before the value in the same word. */
  readonly prefix: string
  readonly current: string
}

function valuesOf(
  { choices, isList = false, isFile = false }: Option,
  { prefix, current }: ValueTyped
): Completion {
  if (choices === undefined) return isFile && prefix === '' ? 'files' : []
  const done = isList ? current.slice(0, current.lastIndexOf(',') + 1) : ''
  const taken = new Set(done.split(','))
  return choices
    .filter((choice) => !taken.has(choice) && `${done}${choice}`.startsWith(current))
    .map((choice) => ({ value: `${prefix}${done}${choice}`, help: '' }))
}

function optionNames(
  options: Options,
  { before, current }: { readonly before: readonly string[]; readonly current: string }
): Completion {
  return Object.entries(options)
    .filter(([name, { isRepeatable }]) => isRepeatable === true || !before.includes(`--${name}`))
    .map(([name, { help }]) => ({ value: `--${name}`, help }))
    .filter(({ value }) => value.startsWith(current))
}

const ownWords: readonly Candidate[] = [{ value: 'help', help: 'Show help about a command' }]

/** The words that make a command with those that were typed. */
function wordsAfter(words: readonly string[]): readonly Candidate[] {
  const [first, ...rest] = words
  if (first === undefined) return [...nextWords([]), ...ownWords]
  return first === 'help' ? nextWords(rest) : nextWords(words)
}

function nextWords(typed: readonly string[]): readonly Candidate[] {
  const found = new Map<string, string>()
  for (const { name, summary } of commands) {
    const words = name.split(' ')
    const next = words[typed.length]
    if (next === undefined || !typed.every((word, index) => words[index] === word)) continue
    const further = words[typed.length + 1]
    const known = found.get(next)
    // Of a group, its commands are named; of a command that is a group too, what it does.
    if (known === undefined) found.set(next, further ?? summary)
    else if (further !== undefined) found.set(next, `${known}, ${further}`)
  }
  return [...found].map(([value, help]) => ({ value, help }))
}

/** What the command takes at this place, if it takes anything there. */
function operandOf(
  match: { readonly command: Command; readonly wordCount: number } | null,
  wordCount: number
) {
  return match === null ? undefined : match.command.operands?.[wordCount - match.wordCount]
}

function startingWith(
  current: string,
  words: readonly Candidate[],
  operand: NonNullable<Command['operands']>[number] | undefined
): Completion {
  const choices = (operand?.choices ?? []).map((value) => ({ value, help: '' }))
  const found = [...words, ...choices].filter(({ value }) => value.startsWith(current))
  return found.length === 0 && operand?.isFile === true ? 'files' : found
}
