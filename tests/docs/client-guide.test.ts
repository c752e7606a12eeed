import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { clientErrorKinds } from '../../src/client/client-error.ts'
import { answer, playScript } from '../helpers/scripted-server.ts'
import { replaceExamples } from './installation.ts'
import { readBlocks } from './markdown.ts'
import { fileNameOf } from './samples.ts'

const guide = readFileSync('docs/guides/client.md', 'utf8')

test('the guide lists every code, and says of each whether it may be tried again', () => {
  const listed = [...guide.matchAll(/^\| `([A-Z_]+)` .*\| (yes|no) +\|$/gmu)].map(
    ([, code, word]) => [code, word === 'yes'] as const
  )

  assert.deepEqual(
    Object.fromEntries(listed),
    Object.fromEntries(
      Object.entries(clientErrorKinds).map(([code, { isRetryable }]) => [code, isRetryable])
    )
  )
})

test('the sample that reports purchases keeps one while something in between answers, and gives up only what the service refuses', async (t) => {
  const sample = readBlocks('docs/guides/client.md').find(
    (block) => fileNameOf(block) === 'report-orders.mjs'
  )
  assert.ok(sample !== undefined)
  const folder = mkdtempSync(join(tmpdir(), 'shelftrace-sample-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(resolve('node_modules/@shelftrace'), join(folder, 'node_modules', '@shelftrace'))
  const page = '<html>Not here</html>'
  const refusal = { messages: ['/site_id must be integer'] }
  for (const [step, outcome] of [
    [answer(302, page, { location: 'http://127.0.0.1:9/' }), 'waiting'],
    [answer(403, page), 'waiting'],
    [answer(404, page), 'waiting'],
    [answer(400, refusal), 'faulty, the service answered 400: /site_id must be integer'],
  ] as const) {
    const { url } = await playScript(t, step)
    const real = { trackingUrl: url, campaignUrl: url }
    writeFileSync(join(folder, 'report-orders.mjs'), replaceExamples(sample.text, real))

    const child = spawn(process.execPath, ['report-orders.mjs'], {
      cwd: folder,
      env: { DELIVERY_KEY: `st_${'k'.repeat(43)}` },
    })
    const [printed, told] = await Promise.all([text(child.stdout), text(child.stderr)])

    assert.equal(printed.split('\n')[0], outcome, told)
    assert.equal(told.includes('check the address'), outcome === 'waiting')
  }
})

test('where Node may not make code of text, as the guide names it, the client ends with an error of a few lines', () => {
  const flag = '--disallow-code-generation-from-strings'
  const program = "import '@shelftrace/client'"

  const ran = spawnSync(process.execPath, [flag, '--input-type=module', '-e', program], {
    encoding: 'utf8',
  })

  assert.ok(guide.includes(flag))
  assert.notEqual(ran.status, 0)
  assert.match(ran.stderr, /^EvalError: Code generation from strings disallowed/mu)
  assert.ok(ran.stderr.length < 3_000, ran.stderr)
})
