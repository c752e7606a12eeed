import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { openDataCentres } from '../../src/ops/data-centres.ts'

const first = '# ours\n192.0.2.0/24\n'
const second = '198.51.100.0/24\n203.0.113.0/24\n'

async function aList(t: TestContext, content: string | null = first) {
  const folder = mkdtempSync(join(tmpdir(), 'shelftrace-networks-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'networks')
  if (content !== null) writeFileSync(path, content)
  const logged: object[] = []
  const said: string[] = []
  const note = (fields: object, text = '') => {
    logged.push(fields)
    said.push(text)
  }
  const list = await openDataCentres({ path, log: { info: note, error: note } })
  assert.ok(list !== null)
  const write = (text: string) => {
    writeFileSync(`${path}.new`, text)
    renameSync(`${path}.new`, path)
  }
  return { list, path, logged, said, write }
}

test('a changed file is taken once two looks found the same, with a version of its own', async (t) => {
  const { list, write } = await aList(t)
  const before = list.state()
  assert.equal(list.listOf('192.0.2.7'), before.version)
  assert.equal(list.listOf(null), before.version, 'who hides their address is not believed')
  assert.equal(list.listOf('198.51.100.7'), null)

  write(second)
  await list.check()
  assert.deepEqual(list.state(), before, 'it may be half written')
  await list.check()

  const after = list.state()
  assert.notEqual(after.version, before.version)
  assert.deepEqual([after.ranges, after.faults], [2, []])
  assert.equal(list.listOf('198.51.100.7'), after.version)
  assert.equal(list.listOf('192.0.2.7'), null)
})

test('a broken line is named, refuses the new list and keeps the old one, until the file is mended', async (t) => {
  const { list, logged, write } = await aList(t)
  const before = list.state()
  write('192.0.2.0/24\n192.0.2.0/99\n')
  for (let look = 0; look < 4; look += 1) await list.check()

  const faults = ['SHELFTRACE_DATACENTER_NETWORKS: line 2 must be a CIDR range or an IP address']
  assert.deepEqual(list.state(), { ...before, faults })
  assert.equal(list.listOf('192.0.2.7'), before.version)
  assert.deepEqual(logged.slice(1), [{ reasons: faults, version: before.version }], 'told once')

  write(second)
  for (let look = 0; look < 2; look += 1) await list.check()
  assert.deepEqual(list.state().faults, [])
  assert.equal(list.listOf('192.0.2.7'), null)
})

test('a file that goes away, becomes empty, too large or a folder keeps the old list', async (t) => {
  const { list, path, write } = await aList(t)
  const { version } = list.state()
  const changes: readonly (readonly [() => void, string])[] = [
    [() => rmSync(path), 'must name a readable file (ENOENT)'],
    [() => write(''), 'the file must have at least one range'],
    [() => write('#'.repeat(16_777_217)), 'must name a file of at most 16 MiB'],
    [
      () => {
        rmSync(path)
        mkdirSync(path)
      },
      'must name a file, not a folder',
    ],
  ]
  for (const [change, fault] of changes) {
    change()
    for (let look = 0; look < 2; look += 1) await list.check()
    assert.deepEqual(list.state().faults, [`SHELFTRACE_DATACENTER_NETWORKS: ${fault}`])
    assert.equal(list.listOf('192.0.2.7'), version)
  }
})

test('without a fit file at the start nothing is from a data centre, and the state says why', async (t) => {
  const { list, said, write } = await aList(t, null)

  assert.match(said.join(' '), /^the list .* is not taken, and there is none before it: nothing/)
  assert.equal(list.listOf('192.0.2.7'), null)
  assert.deepEqual(list.state(), {
    version: null,
    ranges: 0,
    faults: ['SHELFTRACE_DATACENTER_NETWORKS: must name a readable file (ENOENT)'],
  })
  write(first)
  for (let look = 0; look < 2; look += 1) await list.check()
  assert.equal(list.listOf('192.0.2.7'), list.state().version)
})
