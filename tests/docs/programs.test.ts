// The programs of the publisher's guide promise a time-out, repeats and a readable refusal. Here
// they meet a service that fails in each of these ways; the real one does so too seldom.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { replaceExamples } from './installation.ts'
import { readBlocks } from './markdown.ts'
import type { Block } from './markdown.ts'
import { fileNameOf, missingProgram } from './samples.ts'

type Behaviour = 'hang' | 'cut' | number

interface Shop {
  /** Transactions in the order in which they came. */
  readonly received: readonly string[]
  /** With which key each came. */
  readonly keys: readonly (string | undefined)[]
  readonly url: string
}

const refusal = { messages: ['/site_id must be integer', '/products is required'] }
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

/** Behaves as told, one request after the other, and then as the last one says. */
async function startStandIn(t: TestContext, behaviours: readonly Behaviour[]): Promise<Shop> {
  const received: string[] = []
  const keys: (string | undefined)[] = []
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = JSON.parse(Buffer.concat(chunks).toString()) as { transaction_id: string }
    received.push(body.transaction_id)
    keys.push(request.headers.authorization)
    const behaviour = behaviours[Math.min(received.length, behaviours.length) - 1] ?? 200
    if (behaviour === 'hang') return
    if (behaviour === 'cut') return void request.socket.destroy()
    response.writeHead(behaviour, { 'content-type': 'application/json' })
    response.end(JSON.stringify(behaviour === 400 ? refusal : {}))
  }
  const server = createServer((request, response) => void answer(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return { received, keys, url: `http://127.0.0.1:${address.port}` }
}

async function runProgram(
  t: TestContext,
  run: Block,
  url: string
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
    env: { PATH: process.env['PATH'], HOME: folder, DELIVERY_KEY: key },
    timeout: patienceMs,
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (text: Buffer) => (output += text.toString()))
  }
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, output }
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
  const repeats = runs.map((run) =>
    t.test(
      `${run.text.trim()}: repeats one transaction after silence, a cut and a 503 until it is taken`,
      optionsOf(run),
      async (inner) => {
        const shop = await startStandIn(inner, ['hang', 'cut', 503, 200])

        const { code, output } = await runProgram(inner, run, shop.url)

        assert.equal(code, 0, output)
        assert.equal(shop.received.length, 4, output)
        assert.equal(new Set(shop.received).size, 1)
        assert.deepEqual([...new Set(shop.keys)], [`Bearer ${key}`])
      }
    )
  )
  const refusals = runs.map((run) =>
    t.test(
      `${run.text.trim()}: repeats after 429, and ends with the messages of a 400 at once`,
      optionsOf(run),
      async (inner) => {
        const shop = await startStandIn(inner, [429, 400])

        const { code, output } = await runProgram(inner, run, shop.url)

        assert.notEqual(code, 0)
        assert.equal(shop.received.length, 2, output)
        for (const message of refusal.messages) assert.ok(output.includes(message), output)
      }
    )
  )
  // They wait most of the time, so all at once take as long as one.
  await Promise.all([...repeats, ...refusals])
})
