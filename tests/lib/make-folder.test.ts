import assert from 'node:assert/strict'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeFolder, makePrivateFolder } from '../../src/lib/make-folder.ts'

test('folders are made one below the other, for their owner alone, and stay when they are there', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'shelftrace-folder-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'a', 'b c', 'ä')

  makeFolder(path)
  makeFolder(path)

  for (const one of [path, join(folder, 'a')]) assert.equal(statSync(one).mode & 0o777, 0o700)
})

test('a private folder that others may enter is closed to them, and keeps what it had beside that', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'shelftrace-folder-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const [open, absent] = [join(folder, 'open'), join(folder, 'absent')]
  mkdirSync(open)
  chmodSync(open, 0o2775)

  makePrivateFolder(open)
  makePrivateFolder(absent)

  assert.equal(statSync(open).mode & 0o7777, 0o2700)
  assert.equal(statSync(absent).mode & 0o777, 0o700)
})

// Kubernetes mounts folders of root that the group may write.
test('a private folder of another user stays as it is', (t) => {
  const own = mkdtempSync(join(tmpdir(), 'shelftrace-folder-'))
  t.after(() => rmSync(own, { recursive: true }))
  chmodSync(own, 0o770)
  // Only root can give one away; whoever is not root has one that is not theirs.
  const isRoot = process.getuid?.() === 0
  if (isRoot) chownSync(own, 65_534, 65_534)
  const folder = isRoot ? own : '/'
  const { mode } = statSync(folder)

  makePrivateFolder(folder)

  assert.equal(statSync(folder).mode, mode)
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

test('a link to nothing is called that, also above the path', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'shelftrace-folder-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const link = join(folder, 'link')
  symlinkSync(join(folder, 'nothing'), link)
  const sentence = { message: `${link} is a link to nothing` }

  assert.throws(() => makeFolder(link), sentence)
  assert.throws(() => makeFolder(join(link, 'below')), sentence)
})

test(
  'a folder of the system that takes none is refused at once',
  { skip: !existsSync('/proc/1') },
  () => {
    assert.throws(() => makeFolder('/proc/shelftrace'), { code: 'ENOENT' })
    assert.throws(() => makeFolder('/proc/shelftrace/data'), { code: 'ENOENT' })
  }
)
