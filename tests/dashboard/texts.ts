// Reads the sources of the dashboard: which texts go through `t` and `phrase`, and which do not though people see them.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync } from 'vite'

interface Node {
  readonly type: string
  readonly start: number
  readonly [name: string]: unknown
}

interface Source {
  readonly file: string
  readonly text: string
}

const folder = 'dashboard/src'

export function readSources(): readonly Source[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/u.test(file))
    .map((file) => ({ file, text: readFileSync(join(folder, file), 'utf8') }))
}

/** What people see or hear of an element beside its content. */
const attributes = new Set(['title', 'placeholder', 'alt', 'aria-label', 'aria-description'])
/** What our own components and tables show. */
const names = new Set(['label', 'caption', 'summary', 'what', 'note', 'notice', 'words', 'title'])
/** What has words and is never shown. */
const unseen = new Set([
  'aria-describedby',
  'class',
  'className',
  'd',
  'viewBox',
  'href',
  'src',
  'accept',
  'rel',
])

/** Said alike in every language: our name, commands, and what the browser reads. */
const universal = new Set([
  'Bearer',
  'Shelftrace',
  'shelftrace backup',
  'shelftrace catalog load catalog.json',
  'shelftrace links mint --json ads.json > links.json',
  `curl -A 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0' -X POST "$(node -p 'require("./links.json").links[0].impressionUrl')"`,
  '600 12px system-ui, sans-serif',
  '(prefers-color-scheme: dark)',
])

const hasLetters = (text: string) => /\p{L}{2}/u.test(text)
/** Several words, or one that begins as a label does. */
const isSentence = (text: string) =>
  /\p{L}[\p{L}’']*[,:;.]? \p{L}/u.test(text) || /^\p{Lu}\p{Ll}+[ .:(…]*$/u.test(text)

interface Found {
  /** The keys of `t` and `phrase`. */
  readonly keys: string[]
  /** Where a call has something else than a text, or people see what goes through no call. */
  readonly faults: string[]
}

export function findTexts({ file, text }: Source): Found {
  const { program, errors } = parseSync(file, text)
  if (errors.length > 0) throw new Error(`${file} cannot be read`)
  const found: Found = { keys: [], faults: [] }
  const complain = (node: Node, what: string) => {
    if (universal.has(what.trim())) return
    const line = text.slice(0, node.start).split('\n').length
    found.faults.push(`${file}:${line}: ${what.replaceAll(/\s+/gu, ' ').trim()}`)
  }
  visit(program, 'code')
  return found

  function visit(value: unknown, seen: 'code' | 'shown'): void {
    if (Array.isArray(value)) return value.forEach((one) => visit(one, seen))
    if (!isNode(value)) return
    switch (value.type) {
      case 'CallExpression':
        if (isNamed(value['callee'], ['t', 'phrase'])) return readCall(value)
        return visitParts(value, 'code')
      case 'NewExpression':
        // Of programmers.
        if (isNamed(value['callee'], ['Error', 'TypeError'])) return
        return visitParts(value, 'code')
      case 'JSXText':
        if (hasLetters(String(value['value']))) complain(value, String(value['value']))
        return
      case 'JSXAttribute': {
        const name = nameOf(value['name'])
        if (unseen.has(name)) return
        const isShown = attributes.has(name) || names.has(name)
        return visit(value['value'], isShown ? 'shown' : 'code')
      }
      case 'JSXElement':
      case 'JSXFragment':
        visit(value['openingElement'], 'code')
        return visit(value['children'], 'shown')
      case 'Property':
        if (value['computed'] === true) visit(value['key'], 'code')
        return visit(value['value'], names.has(nameOf(value['key'])) ? 'shown' : 'code')
      case 'ImportDeclaration':
      case 'ImportExpression':
      case 'ExportNamedDeclaration':
        return visit(value['declaration'], 'code')
      case 'BinaryExpression':
        if (value['operator'] === '+') return visitParts(value, seen)
        // What is compared is not shown.
        return visit(
          [value['left'], value['right']].filter((part) => !isLiteral(part)),
          'code'
        )
      case 'MemberExpression':
        return visitParts(value, 'code')
      case 'ConditionalExpression':
        visit(value['test'], 'code')
        visit(value['consequent'], seen)
        return visit(value['alternate'], seen)
      case 'Literal':
        return judge(value, value['value'], seen)
      case 'TemplateElement':
        return judge(value, (value['value'] as { readonly cooked?: unknown }).cooked, seen)
      case 'ArrowFunctionExpression':
      case 'FunctionExpression':
        visit(value['params'], 'code')
        return visit(
          value['body'],
          isNode(value['body']) && value['body'].type === 'BlockStatement' ? 'code' : seen
        )
      default:
        // Types say nothing to readers.
        if (value.type.startsWith('TS') && !value.type.endsWith('Expression')) return
        return visitParts(value, seen)
    }
  }

  function visitParts(node: Node, seen: 'code' | 'shown'): void {
    for (const part of Object.values(node)) visit(part, seen)
  }

  function judge(node: Node, value: unknown, seen: 'code' | 'shown'): void {
    if (typeof value !== 'string') return
    if (seen === 'shown' ? hasLetters(value) : isSentence(value)) complain(node, value)
  }

  function readCall(call: Node): void {
    const [first, ...others] = Array.isArray(call['arguments']) ? (call['arguments'] as Node[]) : []
    if (first?.type === 'Literal' && typeof first['value'] === 'string') {
      found.keys.push(first['value'])
    } else if (first !== undefined) {
      complain(first, 'a key that is not written out')
    }
    visit(others, 'code')
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value
}

function isLiteral(value: unknown): boolean {
  return isNode(value) && value.type === 'Literal'
}

function nameOf(value: unknown): string {
  return isNode(value) && typeof value['name'] === 'string' ? value['name'] : ''
}

function isNamed(value: unknown, known: readonly string[]): boolean {
  return known.includes(nameOf(value))
}
