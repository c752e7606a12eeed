import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withoutPauses } from '../../src/warehouse/prompt-mutation.ts'

test('while rows are changed, ClickHouse is told to go on, one call at a time', async () => {
  for (const sql of ['\n  ALTER TABLE rate DELETE WHERE 1', 'DELETE FROM rate WHERE 1']) {
    const sent: string[] = []
    let [runningCount, mostRunning] = [0, 0]
    const send = async (text: string) => {
      sent.push(text)
      runningCount += 1
      mostRunning = Math.max(mostRunning, runningCount)
      await pause(60)
      runningCount -= 1
    }

    const result = await withoutPauses(sql, () => untilSent(sent, 3), send)
    const sentCount = sent.length
    await pause(100)

    assert.equal(result, 'done')
    assert.deepEqual(new Set(sent), new Set(['SYSTEM START MERGES rate']))
    assert.equal(mostRunning, 1)
    assert.equal(sent.length, sentCount, 'nothing is sent when the statement has ended')
  }
})

test('other statements run alone', async () => {
  const sent: string[] = []
  const send = async (text: string) => sent.push(text)

  await withoutPauses('INSERT INTO rate SELECT 1', () => pause(120), send)

  assert.deepEqual(sent, [])
})

test('a call that fails ends the calls, and not the statement', async () => {
  let sentCount = 0
  const send = () => {
    sentCount += 1
    return Promise.reject(new Error('no such command'))
  }

  await withoutPauses('DELETE FROM rate WHERE 1', () => pause(200), send)

  assert.equal(sentCount, 1)
})

test('a statement that fails is told as it fails, and nothing is sent after it', async () => {
  const sent: string[] = []
  const send = async (text: string) => sent.push(text)

  await assert.rejects(
    withoutPauses('DELETE FROM rate WHERE 1', () => Promise.reject(new Error('refused')), send),
    { message: 'refused' }
  )
  await pause(100)

  assert.deepEqual(sent, [])
})

async function untilSent(sent: readonly string[], count: number): Promise<string> {
  while (sent.length < count) await pause(5)
  return 'done'
}

async function pause(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms))
}
