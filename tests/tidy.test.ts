// What the linters miss: sizes, layers, and words that do not belong.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { test } from 'node:test'

function listFiles(folder: string, extension: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(extension))
    .map((file) => join(folder, file))
}

const sources = listFiles('src', '.ts').filter((file) => !file.includes('/generated/'))

// Lower layers know nothing of higher ones; siblings of one layer do not know each other.
const layers: readonly (readonly string[])[] = [
  ['lib'],
  ['domain'],
  ['contract', 'tracking-data'],
  ['spool', 'warehouse'],
  ['catalog', 'tracing'],
  ['access', 'days', 'backup', 'nodes'],
  ['attribution', 'http'],
  ['reports', 'erasure'],
  ['tracking', 'campaign', 'pipeline', 'ops', 'client', 'processes'],
  ['cli'],
]

const below = new Set(['src/errors.ts', 'src/program-folder.ts'])

function layerOf(file: string): number {
  const [folder = ''] = relative('src', file).split('/')
  const index = layers.findIndex((names) => names.includes(folder))
  // Composition roots stand above everything; the error catalogue and the program's place below.
  return index === -1 ? (below.has(file) ? -1 : layers.length) : index
}

function importsOf(file: string): readonly string[] {
  const text = readFileSync(file, 'utf8')
  return [...text.matchAll(/from '(\.[^']+)'/gu)].map((match) =>
    join(dirname(file), match[1] ?? '')
  )
}

// Types alone bind nothing at run time: the admin API answers with the spool's and the pipeline's.
const allowed = new Set([
  'src/ops/log.ts -> src/config.ts',
  'src/erasure/erase-set-aside.ts -> src/pipeline/rows.ts',
  'src/processes/ports.ts -> src/config.ts',
  'src/processes/prepare-warehouse.ts -> src/config.ts',
  'src/ops/tls.ts -> src/config.ts',
  'src/errors.ts -> src/contract/refusal-codes.ts',
  'src/ops/metrics.ts -> src/pipeline/pipeline.ts',
  'src/cli/commands.ts -> src/supervisor.ts',
])

test('imports point downward only', () => {
  const upward = sources.flatMap((file) =>
    importsOf(file)
      .filter((target) => dirname(target) !== dirname(file))
      .filter((target) => {
        const [own = ''] = relative('src', file).split('/')
        const [other = ''] = relative('src', target).split('/')
        if (own === other) return false
        return layerOf(target) >= layerOf(file) && layerOf(file) < layers.length
      })
      .map((target) => `${file} -> ${target}`)
      .filter((edge) => !allowed.has(edge))
  )

  assert.deepEqual(upward, [])
})

function folderOf(file: string): string {
  return relative('src', file).split('/')[0] ?? ''
}

test('the client knows the contract and what is below it, and nothing of the service knows the client', () => {
  const edges = sources.flatMap((file) =>
    importsOf(file).map((target) => [folderOf(file), folderOf(target)] as const)
  )

  const known = edges.filter(([own]) => own === 'client').map(([, other]) => other)
  const knowing = edges.filter(([, other]) => other === 'client').map(([own]) => own)

  assert.deepEqual([...new Set(known)].toSorted(), ['client', 'contract', 'domain', 'lib'])
  assert.deepEqual([...new Set(knowing)], ['client'])
})

test('all that the client loads, directly or not, is the contract, three packages and Node', () => {
  const packages = new Set<string>()
  const open = ['src/client/client.ts']
  const seen = new Set(open)
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    const text = readFileSync(file, 'utf8')
    for (const match of text.matchAll(/from '([^.'][^']*)'/gu)) packages.add(match[1] ?? '')
    for (const target of importsOf(file).filter((one) => !seen.has(one))) {
      seen.add(target)
      open.push(target)
    }
  }

  const outside = [...packages].filter((name) => !name.startsWith('node:')).toSorted()
  assert.deepEqual(outside, ['ajv', 'csv-parse', 'typebox'])
  assert.ok(![...packages].some((name) => /^node:(fs|net|http|child_process|process)/u.test(name)))
})

test('a file that is long says why in its first lines', () => {
  const files = [...sources, ...listFiles('tests', '.ts'), ...listFiles('scripts', '.ts')]
  const long = files.filter((file) => {
    const lines = readFileSync(file, 'utf8').split('\n')
    const codeLines = lines.filter((line) => !/^\s*(\/\/|\*|\/\*|$)/u.test(line))
    const head = lines.slice(0, 5).join('\n')
    return codeLines.length > 400 && !/pure table|oxlint-disable max-lines/iu.test(head)
  })

  assert.deepEqual(long, [])
})

test('only the configuration sees the environment', () => {
  const readers = sources.filter((file) => /process\.env\b/u.test(readFileSync(file, 'utf8')))

  // The roots hand it to the configuration; the supervisor hands it to its children.
  assert.deepEqual(readers.toSorted(), [
    'src/cli.ts',
    'src/engine.ts',
    'src/supervisor.ts',
    'src/tracker.ts',
  ])
})

test('no source holds unfinished work', () => {
  const found = sources.filter((file) =>
    /\b(TODO|FIXME|HACK|not implemented)\b/u.test(readFileSync(file, 'utf8'))
  )

  assert.deepEqual(found, [])
})

test('no file has the marks of a merge that was not finished', () => {
  const folders = ['src', 'tests', 'docs', 'dashboard', 'scripts', 'deploy', 'bench', '.ci']
  const files = [
    ...folders.flatMap((folder) =>
      ['.ts', '.tsx', '.css', '.md', '.sql', '.yaml', '.json', '.mjs'].flatMap((ending) =>
        listFiles(folder, ending)
      )
    ),
    'README.md',
    'CHANGELOG.md',
    'CONTRIBUTING.md',
    'SECURITY.md',
    'package.json',
  ].filter((file) => !file.includes('node_modules'))
  // Spelled apart, so that this file has none.
  const mark = new RegExp(`^(?:${'<'.repeat(7)}|${'>'.repeat(7)}) `, 'mu')
  assert.ok(files.length > 900)
  assert.deepEqual(
    files.filter((file) => mark.test(readFileSync(file, 'utf8'))),
    []
  )
})
