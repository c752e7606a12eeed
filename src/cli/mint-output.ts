// How minted links are printed: a line of JSON each, one document, or text for people.
import type { TrackingLinksResponse } from '../contract/admin.ts'
import type { Immutable } from '../contract/fields.ts'
import type { AdForm } from './ads.ts'
import type { CommandContext } from './command.ts'

export type Link = Immutable<TrackingLinksResponse['links'][number]>

export interface Printer {
  /** With the numbers of their ads, from 1. Resolves with false if they are not taken. */
  print(numbers: readonly number[], links: readonly Link[]): Promise<boolean>
  end(): Promise<void>
}

interface PrinterOptions extends Pick<CommandContext, 'write'> {
  readonly form: AdForm
  readonly isJson: boolean
}

/** Lines are answered with lines, each with the number of its ad's line, since refused ads have none. */
export function createPrinter({ form, isJson, write }: PrinterOptions): Printer {
  if (form === 'lines') {
    const lineOf = (number: number, link: Link) => `${JSON.stringify({ line: number, ...link })}\n`
    return {
      print: async (numbers, links) =>
        await write(links.map((link, index) => lineOf(numbers[index] ?? 0, link)).join('')),
      end: async () => {},
    }
  }
  return isJson ? documentPrinter(write) : textPrinter(write)
}

function documentPrinter(write: CommandContext['write']): Printer {
  let hasBegun = false
  const begin = () => {
    const text = hasBegun ? ',\n' : '{\n  "links": [\n'
    hasBegun = true
    return text
  }
  return {
    print: async (_numbers, links) =>
      await write(begin() + links.map((link) => `    ${JSON.stringify(link)}`).join(',\n')),
    end: async () => {
      await write(hasBegun ? '\n  ]\n}\n' : '{\n  "links": []\n}\n')
    },
  }
}

function textPrinter(write: CommandContext['write']): Printer {
  return {
    print: async (_numbers, links) => await write(links.map(textOf).join('')),
    end: async () => {},
  }
}

function textOf({ servedAdId, impressionUrl, clickUrl, loadUrl }: Link): string {
  return [
    servedAdId,
    `  impression  ${impressionUrl}`,
    `  click       ${clickUrl}`,
    `  load        ${loadUrl}`,
    '',
  ].join('\n')
}
