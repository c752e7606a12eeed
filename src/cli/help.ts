// Help, which fits 80 columns and is made from the descriptions of the commands.
import type { Command, Options, Section } from './command.ts'
import { commands, commonOptions, groups } from './commands.ts'
import { padTo, paint, wrapText, type Layout } from './layout.ts'
import { optionsOf } from './parse.ts'
import { argumentsOf } from './usage.ts'

const widthMax = 80
const indent = '  '

/** About everything, about the commands that begin with a word, or about one command. */
export function helpText(topic: Command | string | null, layout: Layout): string {
  const lines =
    topic === null
      ? overview(layout)
      : typeof topic === 'string'
        ? groupHelp(topic, layout)
        : commandHelp(topic, layout)
  return `${lines.join('\n')}\n`
}

function overview(layout: Layout): readonly string[] {
  return [
    `${title('Usage:', layout)} shelftrace COMMAND [OPTIONS]`,
    '',
    'Tracking, attribution and reports for retail media. "shelftrace help COMMAND"',
    'shows the options of a command, the format of its file and an example;',
    '"shelftrace --version" prints the version.',
    '',
    ...groups.flatMap((group) =>
      [title(`${group.title}:`, layout)].concat(summaries(group.commands), '')
    ),
    ...commonHelp(layout),
  ]
}

function groupHelp(word: string, layout: Layout): readonly string[] {
  const own = commands.find(({ name }) => name === word)
  const others = commands.filter(({ name }) => name.startsWith(`${word} `))
  const usage = `${title('Usage:', layout)} shelftrace ${word} ...`
  return [
    ...(own === undefined ? [usage] : [...commandHelp(own, layout), '', usage]),
    '',
    ...summaries(others),
    '',
    `"shelftrace help ${others[0]?.name ?? ''}" shows more about one of them.`,
  ]
}

function commandHelp(command: Command, layout: Layout): readonly string[] {
  const { summary, details, options = {}, sections = [], examples } = command
  const own = Object.keys(options).length === 0 ? [] : section('Options:', options, layout)
  const choices = (command.operands ?? []).flatMap(({ name, choices: words }) =>
    words === undefined ? [] : [''].concat(paragraph(`${name} is one of: ${words.join(', ')}.`))
  )
  return [
    ...usageLines(command, layout),
    '',
    ...paragraph(`${summary}.${details === undefined ? '' : ` ${details}`}`),
    ...choices,
    ...own,
    ...sections.flatMap((one) => preformatted(one, layout)),
    ...preformatted(
      { title: examples.length === 1 ? 'Example' : 'Examples', lines: examples },
      layout
    ),
    '',
    ...(command.isLocal === true
      ? section('Common options:', optionsOf({ ...command, options: {} }), layout).slice(1)
      : commonHelp(layout)),
  ]
}

/** Arguments that do not fit into the line continue below the first of them. */
function usageLines(command: Command, layout: Layout): readonly string[] {
  const head = `Usage: shelftrace ${command.name}`
  const room = widthMax - head.length - 1
  const lines: string[] = []
  let line = ''
  for (const argument of argumentsOf(command)) {
    if (line !== '' && line.length + 1 + argument.length > room) {
      lines.push(line)
      line = ''
    }
    line = line === '' ? argument : `${line} ${argument}`
  }
  return [...lines, line].map((text, index) =>
    index === 0
      ? `${title('Usage:', layout)}${head.slice('Usage:'.length)} ${text}`.trimEnd()
      : `${' '.repeat(head.length)} ${text}`
  )
}

function commonHelp(layout: Layout): readonly string[] {
  return [
    ...section('Common options, before or after the command:', commonOptions, layout).slice(1),
    '',
    ...paragraph(
      'The key is read from SHELFTRACE_KEY, else from admin-key in SHELFTRACE_DATA_DIR (default ./data). Exit code: ' +
        '0 done, 1 failed or partly refused, 2 not understood.'
    ),
  ]
}

function summaries(own: readonly Command[]): readonly string[] {
  const width = Math.max(...commands.map(({ name }) => name.length))
  return own.map(({ name, summary }) => `${indent}${padTo(name, width)}  ${summary}`)
}

/** An empty line, the title, and each option with what it means. */
function section(heading: string, options: Options, layout: Layout): readonly string[] {
  const rows = Object.entries(options).map(([name, option]) => {
    const { value, help, isRequired, choices } = option
    const words = choices === undefined ? '' : `: ${choices.join(', ')}`
    return {
      left: value === undefined ? `--${name}` : `--${name} ${value}`,
      right: `${help}${isRequired === true ? ' (required)' : ''}${words}`,
    }
  })
  const width = Math.max(...rows.map(({ left }) => left.length))
  const room = widthMax - width - indent.length * 2
  return [
    '',
    title(heading, layout),
    ...rows.flatMap(({ left, right }) =>
      wrapText(right, room).map(
        (text, index) => `${indent}${padTo(index === 0 ? left : '', width)}${indent}${text}`
      )
    ),
  ]
}

function preformatted({ title: heading, lines }: Section, layout: Layout): readonly string[] {
  return ['', title(`${heading}:`, layout), ...lines.map((line) => `${indent}${line}`)]
}

function paragraph(text: string): readonly string[] {
  return wrapText(text, widthMax)
}

function title(text: string, layout: Layout): string {
  return paint(layout, 'bold', text)
}
