// The programs of the publisher's guide promise a time-out, repeats and a readable refusal. Here
// they meet a service that fails in each of these ways; the real one does so too seldom.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { answer, hangUp, playScript, stayMute } from '../helpers/scripted-server.ts'
import type { ScriptedServer } from '../helpers/scripted-server.ts'
import { replaceExamples } from './installation.ts'
import { readBlocks } from './markdown.ts'
import type { Block } from './markdown.ts'
import { fileNameOf, missingProgram } from './samples.ts'

const refusal = { messages: ['/site_id must be integer', '/products is required'] }
const html = { 'content-type': 'text/html' }
const patienceMs = 120_000
const key = `st_${'k'.repeat(43)}`

const blocks = readBlocks('docs/guides/publisher.md')
/** The commands that run a program which is saved in the guide and sends a purchase. */
const runs = blocks.filter(
  (block) => block.language === 'sh' && programOf(block)?.text.includes('/conversion') === true
)

function programOf(run: Block): Block | undefined {
  return blocks.find((block) => {
    const name = fileNameOf(block)
    return name !== null && block.language !== 'json' && run.text.trim().endsWith(` ${name}`)
  })
}

async function runProgram(
  t: TestContext,
  run: Block,
  { url, deliveryKey = key }: { readonly url: string; readonly deliveryKey?: string | null }
): Promise<{ readonly code: number | null; readonly output: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'shelftrace-program-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const real = { trackingUrl: url, campaignUrl: url }
  for (const block of blocks) {
    const name = fileNameOf(block)
    if (name !== null) writeFileSync(join(folder, name), replaceExamples(block.text, real))
  }
  const child = spawn('bash', ['-euc', run.text], {
    cwd: folder,
    env: {
      PATH: process.env['PATH'],
      HOME: folder,
      ...(deliveryKey !== null && { DELIVERY_KEY: deliveryKey }),
    },
    timeout: patienceMs,
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (text: Buffer) => (output += text.toString()))
  }
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, output }
}

/** What every program prints when it is done. */
const delivered = /^delivered: /mu

function transactionsOf({ received }: ScriptedServer): readonly string[] {
  return received.map(
    ({ body }) => (JSON.parse(body) as { readonly transaction_id: string }).transaction_id
  )
}

const optionsOf = (run: Block) => {
  const missing = missingProgram(run)
  return { skip: missing === null ? false : `${missing} is not installed` }
}

test("the publisher's guide has a program for each of curl, Node, Python, PHP and Java", () => {
  const languages = runs.map((run) => programOf(run)?.language)

  assert.deepEqual(languages, ['sh', 'js', 'python', 'php', 'java'])
})

test('a program of the guide', { concurrency: true }, async (t) => {
  const each = (promise: string, check: (inner: TestContext, run: Block) => Promise<void>) =>
    runs.map((run) =>
      t.test(`${run.text.trim()}: ${promise}`, optionsOf(run), (inner) => check(inner, run))
    )
  const repeats = each(
    'repeats one transaction after silence, a cut and a 503 until it is taken',
    async (inner, run) => {
      const service = await playScript(inner, stayMute, hangUp, answer(503), answer(200))

      const { code, output } = await runProgram(inner, run, service)

      assert.equal(code, 0, output)
      assert.match(output, delivered)
      assert.equal(service.received.length, 4, output)
      assert.equal(new Set(transactionsOf(service)).size, 1)
      const keys = new Set(service.received.map(({ headers }) => headers.authorization))
      assert.deepEqual([...keys], [`Bearer ${key}`])
    }
  )
  const refusals = each(
    'repeats after 429 and 408, and ends with the messages of a 400 at once',
    async (inner, run) => {
      const service = await playScript(inner, answer(429), answer(408), answer(400, refusal))

      const { code, output } = await runProgram(inner, run, service)

      assert.notEqual(code, 0)
      assert.equal(service.received.length, 3, output)
      for (const message of refusal.messages) assert.ok(output.includes(message), output)
    }
  )
  const pages = each(
    'takes no page of a proxy and no empty answer with 200 for a delivery',
    async (inner, run) => {
      const maintenance = answer(200, '<html>Maintenance</html>', html)
      const service = await playScript(inner, maintenance, answer(200, '', html))

      const { code, output } = await runProgram(inner, run, service)

      assert.notEqual(code, 0)
      assert.doesNotMatch(output, delivered)
      assert.equal(new Set(transactionsOf(service)).size, 1)
    }
  )
  const foreignRefusals = each(
    'says what a 400 says that is not from the service',
    async (inner, run) => {
      const page = '<html>The plain HTTP request was sent to HTTPS port</html>'
      const service = await playScript(inner, answer(400, page, html))

      const { code, output } = await runProgram(inner, run, service)

      assert.notEqual(code, 0)
      assert.ok(output.includes(page), output)
      assert.doesNotMatch(output, /Traceback|Fatal error|JsonException|SyntaxError/u)
      assert.equal(service.received.length, 1)
    }
  )
  const redirects = each(
    'follows no redirect, so that the key goes to nobody else',
    async (inner, run) => {
      const other = await playScript(inner, answer(200))
      const elsewhere = { location: other.url.replace('127.0.0.1', 'localhost') }
      const moved = [301, 307].map((status) => answer(status, '', elsewhere))
      for (const step of moved) {
        const service = await playScript(inner, step)

        const { code, output } = await runProgram(inner, run, service)

        assert.notEqual(code, 0)
        assert.doesNotMatch(output, delivered)
      }
      assert.deepEqual(other.received, [])
    }
  )
  const keyless = each(
    'ends with the name of the variable and sends nothing when its key is missing or empty',
    async (inner, run) => {
      const service = await playScript(inner, answer(200))
      for (const deliveryKey of [null, '']) {
        const { code, output } = await runProgram(inner, run, { url: service.url, deliveryKey })

        assert.notEqual(code, 0)
        assert.match(output, /DELIVERY_KEY.* is missing$/mu)
        assert.doesNotMatch(output, delivered)
      }
      assert.deepEqual(service.received, [])
    }
  )
  // They wait most of the time, so all at once take as long as one.
  const all = [repeats, refusals, pages, foreignRefusals, redirects, keyless]
  await Promise.all(all.flat())
})

test('no sample of a guide gives the first page of a list of the catalog to a program as if it were all', () => {
  const guides = readdirSync('docs/guides').filter((name) => name.endsWith('.md'))
  const samples = guides.flatMap((name) => readBlocks(`docs/guides/${name}`))

  const cut = samples.filter(({ text }) => /catalog show [a-z-]+ .*--json *[|>]/u.test(text))

  assert.deepEqual(
    cut.map(({ text }) => text),
    []
  )
})

test('the README of each package installs it from the file that is packed, as the guides do', () => {
  for (const name of ['client', 'tracking-data']) {
    const manifest = readFileSync(`packages/${name}/package.json`, 'utf8')
    const { version } = JSON.parse(manifest) as { readonly version: string }
    const installs = readBlocks(`packages/${name}/README.md`).filter(({ text }) =>
      text.startsWith('npm install')
    )

    assert.deepEqual(
      installs.map(({ text }) => text.trim()),
      [`npm install ./shelftrace-${name}-${version}.tgz`]
    )
  }
})

test('the loop over pages of a report takes a page that fails for an error, not for the end or for data', async (t) => {
  const loop = readBlocks('docs/guides/advertiser.md').find(({ text }) => text.includes('PAGE=0'))
  assert.ok(loop !== undefined)
  const refused = answer(503, { messages: ['try again'] })
  const service = await playScript(t, answer(200, 'GTIN\n4006381333931\n'), refused)
  const folder = mkdtempSync(join(tmpdir(), 'shelftrace-pages-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  // Without -e, as in the shell of most readers.
  const child = spawn('bash', ['-uc', loop.text], {
    cwd: folder,
    env: { PATH: process.env['PATH'], ADDRESS: service.url, KEY: key },
    timeout: patienceMs,
  })
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))

  assert.equal(code, 1)
  assert.deepEqual(readdirSync(folder).toSorted(), ['answer.part', 'page-0.csv'])
})
