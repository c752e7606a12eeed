import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeFolder } from '../../src/lib/make-folder.ts'

test('folders are made one below the other, for their owner alone, and stay when they are there', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'shelftrace-folder-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'a', 'b c', 'ä')

  makeFolder(path)
  makeFolder(path)

  for (const one of [path, join(folder, 'a')]) assert.equal(statSync(one).mode & 0o777, 0o700)
})

test('a path at or below a file is refused with the reason of the system', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'shelftrace-folder-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'file')
  writeFileSync(file, '')

  assert.throws(() => makeFolder(file), { code: 'EEXIST' })
  assert.throws(() => makeFolder(join(file, 'below')), { code: 'ENOTDIR' })
  assert.throws(() => makeFolder(join(file, 'far', 'below')), { code: 'ENOTDIR' })
})

test(
  'a folder of the system that takes none is refused at once',
  { skip: !existsSync('/proc/1') },
  () => {
    assert.throws(() => makeFolder('/proc/shelftrace'), { code: 'ENOENT' })
    assert.throws(() => makeFolder('/proc/shelftrace/data'), { code: 'ENOENT' })
  }
)
