import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, before, test } from 'node:test'
import { completionText } from '../../src/cli/completion.ts'
import { commands } from '../../src/cli/commands.ts'
import { run, useCliServer } from './harness.ts'

useCliServer()

/** What can follow the words; the last one is at the cursor. */
function valuesFor(...typed: readonly string[]): readonly string[] {
  return completionText(typed)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split('\t')[0] ?? '')
}

test('every command is completed word by word, and so is help about it', () => {
  for (const { name } of commands) {
    const words = name.split(' ')
    for (const first of [[], ['help'], ['--json'], ['--url', 'http://x']]) {
      for (const [index, word] of words.entries()) {
        const typed = [...first, ...words.slice(0, index), word.slice(0, -1)]
        assert.ok(valuesFor(...typed).includes(word), typed.join(' '))
      }
    }
  }
  assert.deepEqual(valuesFor('ke'), ['keys'])
  assert.deepEqual(valuesFor('xyz'), [])
  assert.ok(valuesFor('').includes('help'))
})

test('a command is explained by its summary, a group by its commands', () => {
  assert.equal(
    completionText(['stat']),
    'status\tShow what waits, what is sealed, and what does not count\n'
  )
  assert.equal(completionText(['catal']), 'catalog\tload, products, show\n')
  assert.match(
    completionText(['audi']),
    /^audit\tShow who changed what, newest first, export, verify\n$/u
  )
})

test('options are completed with those of the command, and only once', () => {
  assert.deepEqual(valuesFor('rebuild', '--f'), ['--from'])
  assert.ok(valuesFor('rebuild', '--').includes('--json'))
  assert.ok(!valuesFor('rebuild', '--from', 'x', '--').includes('--from'))
  assert.ok(valuesFor('audit', 'verify', '--head', 'x', '--').includes('--head'))
  assert.ok(!valuesFor('serve', '--').includes('--url'))
  assert.ok(valuesFor('--').includes('--url'))
})

test('words that an option or an argument takes are completed, those of a list one after the other', () => {
  assert.deepEqual(valuesFor('audit', '--action', 'delivery.'), [
    'delivery.unvoid',
    'delivery.void',
  ])
  assert.deepEqual(valuesFor('audit', '--action=links'), ['--action=links.mint'])
  assert.deepEqual(valuesFor('keys', 'create', '--scopes', 'report:read,a'), [
    'report:read,asset:write',
    'report:read,admin',
  ])
  assert.ok(!valuesFor('keys', 'create', '--scopes', 'admin,').includes('admin,admin'))
  assert.deepEqual(valuesFor('catalog', 'show', 'ad'), ['advertisers', 'ad-groups'])
  assert.deepEqual(valuesFor('completion', ''), ['bash', 'zsh', 'fish'])
  assert.deepEqual(valuesFor('catalog', 'show', 'products', '--market', ''), [])
})

test('where a file is meant the shell completes its path', () => {
  for (const typed of [
    ['catalog', 'load', ''],
    ['catalog', 'load', 'cat'],
    ['erase', '10', '--user-id-file', ''],
    ['restore', 'folder'],
  ]) {
    assert.equal(completionText(typed), ':files\n', typed.join(' '))
  }
  assert.deepEqual(valuesFor('catalog', 'load', 'catalog.json', ''), [])
  assert.deepEqual(valuesFor('link', ''), [])
})

test('the script of an unknown shell is refused', async () => {
  const { exitCode, stderr } = await run(['completion', 'tcsh'])

  assert.equal(exitCode, 2)
  assert.match(stderr, /SHELL must be one of: bash, zsh, fish/u)
})

let folder = ''
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'shelftrace-completion-'))
  // The program as the path has it.
  const program = `#!/bin/sh\nexec '${process.execPath}' --import tsx '${resolve('src/cli.ts')}' "$@"\n`
  writeFileSync(join(folder, 'shelftrace'), program, { mode: 0o755 })
  writeFileSync(join(folder, 'catalog.json'), '{}')
})
after(() => rmSync(folder, { recursive: true, force: true }))

function has(shell: string): boolean {
  return spawnSync(shell, ['-c', 'exit 0']).status === 0
}

/** The lines that a program of the shell prints, with the completion of the shell loaded. */
async function ask(shell: string, program: (script: string) => string): Promise<readonly string[]> {
  const { stdout: script } = await run(['completion', shell])
  const file = join(folder, `completion.${shell}`)
  writeFileSync(file, script)
  const { stdout, stderr, status } = spawnSync(shell, ['-c', program(file)], {
    encoding: 'utf8',
    cwd: resolve('.'),
    env: { ...process.env, PATH: `${folder}:${process.env['PATH'] ?? ''}`, FOLDER: folder },
  })
  assert.deepEqual([status, stderr], [0, ''])
  return stdout.split('\n').filter((line) => line !== '')
}

/** As readline calls the function of a completion. */
function askBash(line: string): (file: string) => string {
  return (file) => `source '${file}'
COMP_LINE='${line}' COMP_POINT=${line.length}
complete -p shelftrace > /dev/null
compopt() { echo "compopt $*"; }
_shelftrace shelftrace
printf '%s\\n' "\${COMPREPLY[@]}"`
}

const noShell = (shell: string) => (has(shell) ? false : `${shell} is not installed`)

test(
  'bash completes commands, options, words with colons, and files',
  { skip: noShell('bash') },
  async () => {
    assert.deepEqual(await ask('bash', askBash('shelftrace ke')), ['keys'])
    assert.deepEqual(await ask('bash', askBash('shelftrace catalog  ')), [
      'load',
      'products',
      'show',
    ])
    assert.deepEqual(await ask('bash', askBash('shelftrace audit --act')), ['--action'])
    // Readline has cut the word at the colon already.
    const scopes = 'shelftrace keys create --scopes report:read,asset:w'
    assert.deepEqual(await ask('bash', askBash(scopes)), ['write'])
    assert.deepEqual(await ask('bash', askBash('shelftrace audit --action=key.c')), ['key.create'])
    assert.deepEqual(await ask('bash', askBash('shelftrace catalog load ')), ['compopt -o default'])
  }
)

/** As the completion system calls the function; what it would show is printed. */
function askZsh(words: readonly string[]): (file: string) => string {
  const current = words.at(-1) ?? ''
  return (file) => `compdef() { :; }
_describe() { print -rl -- "\${(@P)4}"; }
_files() { print files; }
source '${file}'
words=(${words.map((word) => `'${word}'`).join(' ')}) CURRENT=${words.length} PREFIX='${current}'
_shelftrace`
}

test(
  'zsh completes commands, options, words with colons, and files',
  { skip: noShell('zsh') },
  async () => {
    const sub = await ask('zsh', askZsh(['shelftrace', 'catalog', 'l']))
    assert.match(sub[0] ?? '', /^load:Add or replace/u)
    const scopes = ['shelftrace', 'keys', 'create', '--scopes', 'asset']
    assert.deepEqual(await ask('zsh', askZsh(scopes)), [String.raw`asset\:write`])
    assert.deepEqual(await ask('zsh', askZsh(['shelftrace', 'events', 'load', ''])), ['files'])
  }
)

function askFish(line: string): (file: string) => string {
  return (file) => `source '${file}'; complete -C '${line}'`
}

test(
  'fish completes commands, options, words with colons, and files',
  { skip: noShell('fish') },
  async () => {
    const sub = await ask('fish', askFish('shelftrace catalog l'))
    assert.match(sub[0] ?? '', /^load\tAdd or replace/u)
    assert.match((await ask('fish', askFish('shelftrace audit --act')))[0] ?? '', /^--action\t/u)
    const scopes = await ask('fish', askFish('shelftrace keys create --scopes asset'))
    assert.equal(scopes[0]?.trim(), 'asset:write')
    const files = await ask(
      'fish',
      (file) => `cd $FOLDER; source '${file}'; complete -C 'shelftrace catalog load cata'`
    )
    assert.ok(files.some((line) => line.startsWith('catalog.json')))
  }
)
