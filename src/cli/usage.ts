// The usage line of a command, and the names under which the API knows its arguments.
import type { Command, Operand, Option } from './command.ts'

/** `shelftrace keys revoke ID [--compromised-since INSTANT]` */
export function usageOf(command: Command): string {
  return ['shelftrace', command.name, ...argumentsOf(command)].join(' ')
}

/** Each is to stay on one line. */
export function argumentsOf({ usage, operands = [], options = {} }: Command): readonly string[] {
  if (usage !== undefined) return [usage]
  const sorted = Object.entries(options).toSorted(
    ([, one], [, other]) => Number(other.isRequired ?? false) - Number(one.isRequired ?? false)
  )
  return [...operands.map(operandText), ...sorted.map(([name, option]) => optionText(name, option))]
}

function operandText({ name, isOptional }: Operand): string {
  return isOptional === true ? `[${name}]` : name
}

function optionText(name: string, { value, isRequired, isRepeatable }: Option): string {
  const text = value === undefined ? `--${name}` : `--${name} ${value}`
  return `${isRequired === true ? text : `[${text}]`}${isRepeatable === true ? '...' : ''}`
}

/** The name of an option in the API: `compromised-since` is `compromisedSince`. */
export function fieldOf(name: string, { field }: Option): string {
  return field ?? name.replaceAll(/-(\w)/gu, (_, letter: string) => letter.toUpperCase())
}

/**
 * Where a message of the API names a field, the person at the terminal reads the argument that they typed. Fields of a
 * body stand as `/startDate`, parameters of a query as `startDate`.
 */
export function nameArguments({ operands = [], options = {} }: Command, message: string): string {
  const names = new Map<string, string>()
  for (const { name, field } of operands)
    if (field !== undefined) names.set(field, name.replace('|-', ''))
  for (const [name, option] of Object.entries(options)) {
    names.set(fieldOf(name, option), `--${name}`)
  }
  const named = (text: string, field: string) => names.get(field) ?? text
  const hasFile = operands.some(({ isFile }) => isFile === true)
  return message
    .replaceAll(/(?<![\w/.])\/(\w+)(?:\/\d+)?(?![\w/])/gu, named)
    .replace(/^(\w+)(?= (?:must|is) )/u, named)
    .replace(/(?<= (?:after|before) )(\w+)$/u, named)
    .replaceAll(/(?<![\w/.-])([a-z]+[A-Z]\w*)(?![\w/])/gu, named)
    .replace(/^body /u, hasFile ? 'the file ' : 'body ')
}
