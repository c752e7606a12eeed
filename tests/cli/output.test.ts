import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { FileOutput } from '../../src/cli/output.ts'
import { placement } from '../helpers/placement.ts'
import { answerBy, answerText, answerWith, received, run, useCliServer } from './harness.ts'

useCliServer()

function fullDisk(t: TestContext): Writable {
  const fd = openSync('/dev/full', 'w')
  t.after(() => closeSync(fd))
  return new FileOutput(fd)
}

/** Fails at its first write, as a stream of Node does: by the callback, and by an event after it. */
function failingOutput(code: string): Writable {
  return new Writable({
    write: (_chunk, _encoding, done) => {
      done(Object.assign(new Error(`write ${code}`), { code }))
    },
  })
}

const isFull = 'shelftrace: The output could not be written: the disk is full (ENOSPC).\n'

test('a command whose output is lost on a full disk ends with 1 and one sentence', async (t) => {
  for (const argv of [['help'], ['--version'], ['complete', '--', ''], ['keys', 'list']]) {
    answerWith(200, { keys: [] })
    const { exitCode, stderr } = await run(argv, { stdout: fullDisk(t) })
    assert.deepEqual([exitCode, stderr], [1, isFull], argv.join(' '))
  }
  answerText(200, '{"at":"2026-03-01T00:00:00Z"}\n', { type: 'application/x-ndjson' })
  const exported = await run(['audit', 'export'], { stdout: fullDisk(t) })
  assert.deepEqual([exported.exitCode, exported.stderr], [1, isFull])
})

test('every failure of the output counts but that nobody reads on', async () => {
  for (const code of ['ENOSPC', 'EDQUOT', 'EIO', 'EFBIG', 'ECONNRESET']) {
    const { exitCode, stderr } = await run(['help'], { stdout: failingOutput(code) })
    assert.equal(exitCode, 1, code)
    assert.match(
      stderr,
      new RegExp(`^shelftrace: The output could not be written: .*${code}.*\\n$`)
    )
  }
  const closed = await run(['help'], { stdout: failingOutput('EPIPE') })
  assert.deepEqual([closed.exitCode, closed.stderr], [0, ''])
})

test('a key or a link that nobody could read is told with the id to revoke, whatever kept it', async (t) => {
  const rights = ['--name', 'Anna', '--advertisers', '1', '--scopes', 'report:read']
  const lost =
    /^shelftrace: The (?:key|link) was made and could not be shown. Revoke it \("shelftrace keys revoke key_7"\)/u
  for (const words of [
    ['keys', 'create'],
    ['keys', 'invite'],
  ]) {
    answerWith(201, {
      id: 'key_7',
      ...(words[1] === 'create'
        ? { key: 'st_new' }
        : { code: 'st_code', address: '#/x', expiresAt: '2026-03-04T00:00:00.000Z' }),
    })
    const full = await run([...words, ...rights], { stdout: fullDisk(t) })
    const unread = await run([...words, ...rights], { stdout: failingOutput('EPIPE') })

    assert.match(full.stderr, lost)
    assert.ok(full.stderr.endsWith(isFull), full.stderr)
    assert.match(unread.stderr, lost)
    assert.deepEqual([full.exitCode, unread.exitCode], [1, 1])
  }
})

test('a command that was not understood ends with 2, wherever its output goes', async (t) => {
  const { exitCode, stderr } = await run(['xyzzyx'], { stdout: fullDisk(t) })

  assert.equal(exitCode, 2)
  assert.match(stderr, /no command/u)
})

test('minting stops at a failed write, so that nothing is minted that nobody gets', async (t) => {
  answerBy((body) => ({
    status: 200,
    json: {
      links: JSON.parse(body).links.map(() => ({
        servedAdId: '3f2504e0-4f89-41d3-9a0c-0305e82c3301',
        trackingData: 'x',
        impressionUrl: 'https://t/i',
        clickUrl: 'https://t/c',
        loadUrl: 'https://t/l',
      })),
    },
  }))
  const ad = { ...placement, gtin: '4006381333931', userId: 'shopper-2' }
  const lines = Array.from({ length: 3_000 }, () => `${JSON.stringify(ad)}\n`)

  const { exitCode, stderr } = await run(['links', 'mint', '-'], {
    stdin: Readable.from(lines),
    stdout: fullDisk(t),
  })

  assert.deepEqual([exitCode, stderr], [1, isFull])
  assert.equal(received.length, 1)
})

test('a disk that has room for a part of a text is full', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'shelftrace-output-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'help.txt')
  const program = `"${process.execPath}" --import tsx src/cli.ts help >"${path}"`

  const whole = spawn('sh', ['-c', `exec ${program}`], { stdio: 'pipe' })
  await once(whole, 'exit')
  const length = statSync(path).size
  // In blocks of 512 bytes.
  const child = spawn('sh', ['-c', `ulimit -f 2; exec ${program}`], { stdio: 'pipe' })
  const [stderr, [exitCode]] = await Promise.all([text(child.stderr), once(child, 'exit')])

  assert.ok(length > 2_048 && readFileSync(path).length < length)
  assert.equal(exitCode, 1)
  assert.match(stderr, /^shelftrace: The output could not be written: .*\(EFBIG\)\.\n$/u)
})
