import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AnswerCache } from '../../dashboard/src/answer-cache.ts'

test('the last 20 answers are kept, those that were given latest', () => {
  const cache = new AnswerCache()
  for (let number = 0; number < 20; number += 1) cache.set(`question ${number}`, number)
  cache.set('question 0', 'again')
  cache.set('question 20', 20)

  assert.deepEqual(
    ['question 0', 'question 1', 'question 2', 'question 20'].map((key) => cache.get(key)),
    ['again', undefined, 2, 20]
  )
})
