import assert from 'node:assert/strict'
import { mkdtempSync, mkdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { diskComplaints, isDiskFull } from '../../src/ops/disk-room.ts'
import { diskFreeBytesMin } from '../../src/spool/file-spool.ts'

test('the status says that events are refused as soon as the disk has less room than trackers ask for', (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'shelftrace-room-'))
  t.after(() => rmSync(dataDir, { recursive: true }))
  mkdirSync(join(dataDir, 'spool'))

  assert.deepEqual(diskComplaints(dataDir), [], 'this disk has room')
  assert.deepEqual(
    diskComplaints(dataDir, () => diskFreeBytesMin),
    []
  )
  const folders: string[] = []
  const [complaint, ...others] = diskComplaints(dataDir, (folder) => {
    folders.push(folder)
    return diskFreeBytesMin - 1
  })

  assert.deepEqual(folders, [join(dataDir, 'spool')])
  assert.match(complaint ?? '', /^events are refused: the disk of \S+ has 16777215 bytes left/)
  assert.deepEqual(others, [])
})

test('a spool whose folder is gone is in the status as well', (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'shelftrace-room-'))
  t.after(() => rmSync(dataDir, { recursive: true }))

  assert.match(
    diskComplaints(dataDir).join(' '),
    /^events are refused: \S+\/spool cannot be used: there is nothing at this path \(ENOENT\)$/
  )
})

test('a disk is full from where trackers refuse events, and one that cannot be asked is not called full', () => {
  assert.equal(
    isDiskFull('/', () => diskFreeBytesMin - 1),
    true
  )
  assert.equal(
    isDiskFull('/', () => diskFreeBytesMin),
    false
  )
  assert.equal(isDiskFull('/nowhere/at/all'), false)
})
