// One word a thing: what people read (documents, comments, sentences in strings, text of the dashboard)
// says it with the word of docs/GLOSSARY.md. Names in code are left to reviews.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

interface Synonym {
  readonly banned: RegExp
  readonly say: string
  /** Where the word means something else. */
  readonly except?: RegExp
}

const synonyms: readonly Synonym[] = [
  {
    banned: /\b(?:ClickHouse|native|in-process|embedded|database)(?:'s)? engine\b/giu,
    say: 'ClickHouse, the warehouse',
    // The kind of a database or a table is called so by ClickHouse itself.
    except: /ClickHouse's engine ``/u,
  },
  {
    banned: /\bengine's (?:own|allocator|code|name)\b|\bthe engine in process\b/giu,
    say: 'ClickHouse',
  },
  { banned: /\bmisfits?\b/giu, say: 'data quality, or what it is: a conflict, an unknown id' },
  {
    banned: /\bviews?\b/giu,
    say: 'impression',
    except: /materialized view|live view/iu,
  },
  {
    banned: /\b(?:customers?|consumers?|end users?|visitors?|buyers?)\b/giu,
    say: 'shopper, or whose customer it is',
  },
  { banned: /\b(?:baskets?|shopping carts?)\b/giu, say: 'purchase' },
  { banned: /\bdedup\w*/giu, say: 'repeat: it is dropped' },
  { banned: /\bre-?seal(?:s|ed|ing)?\b/giu, say: 'renew, renewal' },
  { banned: /\bdead.?letters?\b|\bquarantin\w*/giu, say: 'set aside' },
  { banned: /\b(?:API|access) keys?\b/giu, say: 'key' },
  { banned: /\bretailers?\b/giu, say: 'publisher' },
  { banned: /\bmerchants?\b/giu, say: 'publisher', except: /merchant feed|Google Merchant/iu },
  { banned: /\bingest\w*/giu, say: 'receive, ship' },
  { banned: /\btenants?\b/giu, say: 'installation, advertiser' },
  { banned: /\brefund\w*/giu, say: 'return' },
]

const documents = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...list('docs', /\.(?:md|yaml)$/u).filter((file) => file !== 'docs/GLOSSARY.md'),
]
const sources = [...list('src', /\.ts$/u), ...list('dashboard/src', /\.tsx?$/u)]

function list(folder: string, ending: RegExp): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => ending.test(file))
    .map((file) => join(folder, file))
    .toSorted()
}

/** Without code and without the names of tests, which are quoted. */
function proseOf(text: string): string {
  return text
    .replaceAll(/^```[\s\S]*?^```$/gmu, '')
    .replaceAll(/`tests\/[^`]+`: "[^"]+"/gu, '')
    .replaceAll(/`[^`\n]+`/gu, '``')
}

/** Comments, strings with a blank in them, and what stands between tags. */
function sentencesOf(text: string): string {
  const comments = text.matchAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gmu)
  const strings = text.matchAll(
    /'(?:[^'\\\n]|\\.)* (?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)* (?:[^"\\\n]|\\.)*"/gu
  )
  const between = text.matchAll(/(?<=>)[^<>{}=;()]*[A-Za-z][^<>{}=;()]*(?=<)/gu)
  return [...comments, ...strings, ...between]
    .map(([found]) => found.replaceAll(/\s+\*? ?/gu, ' '))
    .join('\n')
}

function faultsIn(file: string, text: string): readonly string[] {
  return synonyms.flatMap(({ banned, say, except }) =>
    [...text.matchAll(banned)].flatMap((match) => {
      const around = text.slice(Math.max(0, match.index - 20), match.index + match[0].length + 20)
      if (except?.test(around) === true) return []
      return [`${file}: "${around.replaceAll('\n', ' ')}" (say: ${say})`]
    })
  )
}

test('documents and sentences in the sources use the words of the glossary', () => {
  const faults = [
    ...documents.flatMap((file) => faultsIn(file, proseOf(readFileSync(file, 'utf8')))),
    ...sources.flatMap((file) => faultsIn(file, sentencesOf(readFileSync(file, 'utf8')))),
  ]

  assert.deepEqual(faults, [])
})

test('every word of the glossary is used, in the documents and in the sources or tables', () => {
  const [glossary = ''] = readFileSync('docs/GLOSSARY.md', 'utf8').split('\n## ')
  const terms = [
    // The headings of the dashboard, which follow, are compared with its pages (`tests/dashboard/terms.test.ts`).
    ...glossary.matchAll(/^\| \*\*(.+?)\*\*/gmu),
  ].flatMap(([, row = '']) => row.split(', '))
  const written = readAll(documents)
  const code = readAll([...sources, ...list('src', /\.sql$/u)])

  assert.ok(terms.length > 60)
  assert.deepEqual(
    terms.filter((term) => !isUsed(written, term) || !isUsed(code, term)),
    []
  )
})

function readAll(files: readonly string[]): string {
  return files
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n')
    .toLowerCase()
}

/** In names, blanks are missing or are other characters. */
function isUsed(text: string, term: string): boolean {
  return new RegExp(term.toLowerCase().replaceAll(/[ -]/gu, '[ _-]?'), 'u').test(text)
}
