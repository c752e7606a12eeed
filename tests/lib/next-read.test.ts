import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { NextRead } from '../../src/lib/next-read.ts'

/** Readings that end when they are told to, with what the source holds when they begin. */
function aSource() {
  const ends: ((error?: Error) => void)[] = []
  const source = {
    value: 'old',
    begunCount: 0,
    read: async (): Promise<string> => {
      source.begunCount += 1
      const { value } = source
      await new Promise<void>((resolve, reject) => {
        ends.push((error) => (error === undefined ? resolve() : reject(error)))
      })
      return value
    },
    endOldest: async (error?: Error) => {
      ends.shift()?.(error)
      await turn()
    },
  }
  return source
}

test('whoever asks while something is read gets what was there when they asked', async () => {
  const source = aSource()
  const reads = new NextRead<string>()

  const first = reads.ask('days', source.read)
  source.value = 'new'
  const second = reads.ask('days', source.read)
  const third = reads.ask('days', source.read)
  const begunAtFirst = source.begunCount
  await source.endOldest()
  source.value = 'newest'
  const fourth = reads.ask('days', source.read)
  await source.endOldest()
  await source.endOldest()

  assert.equal(begunAtFirst, 1)
  assert.deepEqual(await Promise.all([first, second, third, fourth]), [
    'old',
    'new',
    'new',
    'newest',
  ])
  assert.equal(source.begunCount, 3)
})

test('different things are read side by side, and nothing is remembered', async () => {
  const source = aSource()
  const reads = new NextRead<string>()

  const both = Promise.all([reads.ask('one', source.read), reads.ask('other', source.read)])
  const begunCount = source.begunCount
  await source.endOldest()
  await source.endOldest()
  await both
  source.value = 'new'
  const later = reads.ask('one', source.read)
  await source.endOldest()

  assert.equal(begunCount, 2)
  assert.equal(await later, 'new')
})

test('a reading that fails fails those who share it, and the next one is read all the same', async () => {
  const source = aSource()
  const reads = new NextRead<string>()

  const first = reads.ask('days', source.read)
  const shared = [reads.ask('days', source.read), reads.ask('days', source.read)]
  await Promise.all([assert.rejects(first, /gone/u), source.endOldest(new Error('gone'))])
  const after = reads.ask('days', source.read)
  await Promise.all([
    ...shared.map((one) => assert.rejects(one, /gone again/u)),
    source.endOldest(new Error('gone again')),
  ])
  await source.endOldest()

  assert.equal(await after, 'old')
  assert.equal(source.begunCount, 3)
})
