// Reads what the tests of the documents need from a page: its fenced blocks, headings and links.

import { readFileSync } from 'node:fs'

export interface Block {
  readonly file: string
  /** Of the opening fence, from 1, as editors count. */
  readonly line: number
  readonly language: string
  /** What follows the language behind the fence. */
  readonly words: readonly string[]
  readonly text: string
}

const fence = /^(?<indent>\s*)(?<marks>`{3,}|~{3,})(?<info>.*)$/u

export function readBlocks(file: string): readonly Block[] {
  return parsePage(file).blocks
}

/** The names under which GitHub lets a link point to the headings of a page. */
export function readAnchors(file: string): ReadonlySet<string> {
  const anchors = new Set<string>()
  for (const line of parsePage(file).prose) {
    const heading = /^#{1,6}\s+(?<title>.*?)\s*#*$/u.exec(line)?.groups?.['title']
    if (heading === undefined) continue
    const anchor = slugOf(heading)
    let unique = anchor
    for (let count = 1; anchors.has(unique); count++) unique = `${anchor}-${count}`
    anchors.add(unique)
  }
  return anchors
}

/** Targets of links and images, without those inside code. */
export function readLinks(file: string): readonly string[] {
  const prose = parsePage(file)
    .prose.join('\n')
    .replaceAll(/(`+)[^`]+\1/gu, '')
  return [...prose.matchAll(/\]\(\s*<?([^)\s>]+)>?[^)]*\)/gu)].map((match) => match[1] ?? '')
}

function parsePage(file: string): {
  readonly blocks: readonly Block[]
  readonly prose: readonly string[]
} {
  const blocks: Block[] = []
  const prose: string[] = []
  const lines = readFileSync(file, 'utf8').split('\n')
  for (let at = 0; at < lines.length; at++) {
    const opening = fence.exec(lines[at] ?? '')?.groups
    if (opening === undefined) {
      prose.push(lines[at] ?? '')
      continue
    }
    const { indent = '', marks = '', info = '' } = opening
    const end = lines.findIndex((line, index) => index > at && line.trim() === marks)
    if (end === -1) throw new Error(`${file}:${at + 1}: the block has no end`)
    const inside = lines.slice(at + 1, end).map((line) => line.replace(indent, ''))
    const [language = '', ...words] = info.trim().split(/\s+/u)
    blocks.push({ file, line: at + 1, language, words, text: `${inside.join('\n')}\n` })
    at = end
  }
  return { blocks, prose }
}

function slugOf(heading: string): string {
  return heading
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/gu, '$1')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/gu, '-')
}
