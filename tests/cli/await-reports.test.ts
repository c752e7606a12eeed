import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { awaitReports } from '../../src/cli/await-reports.ts'
import { CliError, type CommandContext } from '../../src/cli/command.ts'
import { answerBy, answerWith, received, run, useCliServer } from './harness.ts'

useCliServer()

/** A status so many seconds after the load. */
function statusAt(second: number, change: object = {}) {
  const at = new Date(Date.UTC(2026, 2, 1, 0, 0, second)).toISOString()
  return {
    version: '1.0.0',
    at,
    warehouse: { kind: 'embedded', available: true },
    spool: { bytes: 400 },
    lagMs: 0,
    attribution: { lagMs: 0, settledThrough: at },
    days: { unsealed: 0, renewing: 0 },
    clock: { offsetMs: 0 },
    failing: [],
    ...change,
  }
}

const before = '2026-03-01T00:00:02.000Z'

test('events load --wait ends once they are shipped, attributed, and the days they reached are renewed', async () => {
  const story = [
    statusAt(0),
    { accepted: 2, refused: [], refusedCount: 0 },
    // Something that was loaded waits.
    statusAt(1, { lagMs: 5_000 }),
    // What waits now came later, as in a service that takes events all the time.
    statusAt(3, { lagMs: 500, attribution: { lagMs: 0, settledThrough: before } }),
    statusAt(4, { lagMs: 500, attribution: { lagMs: 0, settledThrough: before } }),
    statusAt(9, { warehouse: { kind: 'embedded', available: false }, days: undefined }),
    statusAt(10, { days: { unsealed: 4, renewing: 2 } }),
    statusAt(11),
  ]
  answerBy(() => ({ status: 200, json: story.shift() }))

  const { exitCode, stdout, stderr } = await run(['events', 'load', '-', '--wait'], {
    stdin: Readable.from(['{}\n']),
    isTTY: true,
  })

  assert.equal(exitCode, 0)
  assert.deepEqual(story, [])
  assert.equal(stdout, '2 events accepted, 0 refused.\nThe reports have them.\n')
  const told = [
    '400 bytes wait to be shipped',
    'purchases wait to be attributed',
    'the warehouse is away',
    '2 days to be sealed again',
  ]
  const places = told.map((words) => stderr.indexOf(words))
  assert.ok(!places.includes(-1))
  assert.deepEqual(
    places,
    places.toSorted((one, other) => one - other)
  )
})

test('who may not ask for the status learns it before anything is loaded', async () => {
  answerWith(403, { messages: [] })

  const { exitCode, stderr } = await run(['events', 'load', '-', '--wait'], {
    stdin: Readable.from(['{}\n']),
  })

  assert.equal(exitCode, 1)
  assert.match(stderr, /not allowed/u)
  assert.deepEqual(
    received.map(({ method, url }) => `${method} ${url}`),
    ['GET /admin/v1/status']
  )
})

test('a server that does not tell is not waited for', async () => {
  answerWith(200, statusAt(0, { at: undefined }))

  const { stderr } = await run(['events', 'load', '-', '--wait'], { stdin: Readable.from([]) })

  assert.match(stderr, /too old for --wait/u)
})

test('waiting ends after its limit and says what is missing', async () => {
  const status = statusAt(0, { days: { unsealed: 0, renewing: 1 } })
  const terminal = { argv: [], environment: {}, stdin: Readable.from([]) }
  const context: Pick<CommandContext, 'call' | 'terminal'> = {
    terminal: { ...terminal, stdout: process.stdout, stderr: process.stderr },
    // The answer of the schema that is asked for.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    call: async () => await Promise.resolve(status as never),
  }

  await assert.rejects(awaitReports(context, { waitMsMax: 0 }), /1 day to be sealed again/u)
})

test('what was accepted and refused is told before the wait, also when the service goes away during it', async () => {
  const answers: readonly { readonly status: number; readonly json: unknown }[] = [
    { status: 200, json: statusAt(0) },
    {
      status: 200,
      json: { accepted: 2, refused: [{ line: 7, messages: ['/at is required'] }], refusedCount: 1 },
    },
    { status: 200, json: statusAt(1, { lagMs: 5_000 }) },
    { status: 502, json: { messages: [] } },
    { status: 503, json: { messages: ['It is starting.'] } },
    { status: 200, json: statusAt(9) },
  ]
  for (const options of [[], ['--json']]) {
    const story = [...answers]
    answerBy(() => story.shift() ?? { status: 500, json: {} })

    const { exitCode, stdout } = await run(['events', 'load', '-', '--wait', ...options], {
      stdin: Readable.from(['{}\n']),
    })

    assert.deepEqual([exitCode, story.length], [1, 0])
    if (options.length > 0) assert.deepEqual(JSON.parse(stdout), answers[1]?.json)
    else {
      assert.equal(
        stdout,
        '2 events accepted, 1 refused.\n  line 7: /at is required\nThe reports have them.\n'
      )
    }
  }
})

test('a service that does not come back is told, and that the events are loaded', async () => {
  const terminal = { argv: [], environment: {}, stdin: Readable.from([]) }
  const context: Pick<CommandContext, 'call' | 'terminal'> = {
    terminal: { ...terminal, stdout: process.stdout, stderr: process.stderr },
    call: async () => await Promise.reject(new CliError('Nothing answers.')),
  }

  await assert.rejects(
    awaitReports(context, { silenceMsMax: 0 }),
    /^CliError: The events are loaded; nothing tells whether the reports have them\. Nothing answers\.$/u
  )
})

test('without --wait it is told how to learn when the reports have them', async () => {
  answerWith(200, { accepted: 1, refused: [], refusedCount: 0 })
  const some = await run(['events', 'load', '-'], { stdin: Readable.from(['{}\n']) })
  answerWith(200, { accepted: 0, refused: [], refusedCount: 1 })
  const none = await run(['events', 'load', '-'], { stdin: Readable.from(['{}\n']) })

  assert.match(some.stdout, /--wait waits for that/u)
  assert.doesNotMatch(none.stdout, /--wait/u)
})
