import { statusResponseSchema, type StatusResponse } from '../contract/admin.ts'
import type { Run } from './command.ts'
import { lengthOf, padTo, paint, wrapText, type Layout } from './layout.ts'
import { factsOf, type Fact } from './status-facts.ts'
import { printable } from './table.ts'
import { counted } from './words.ts'

export const status: Run = async (context) => {
  const answer = await context.call(statusResponseSchema, { method: 'GET', path: '/status' })
  context.print(answer, describe(answer, context.layout))
  return 0
}

/** A line that sums up, then a line for each fact. What is out of the ordinary begins with an exclamation mark. */
function describe(answer: StatusResponse, layout: Layout): string {
  const facts = factsOf(answer)
  const oddCount = facts.filter(({ isOdd }) => isOdd).length
  const summary =
    oddCount === 0
      ? paint(layout, 'green', 'All is as it should be.')
      : paint(layout, 'yellow', `${counted(oddCount, 'line')} to look at, marked with !`)
  return [summary, ...formatFacts(facts, layout)].join('\n')
}

function formatFacts(facts: readonly Fact[], layout: Layout): readonly string[] {
  const nameWidth = Math.max(...facts.map(({ name }) => lengthOf(name)))
  const indent = '  '.length + nameWidth + '  '.length
  const room = layout.width === null ? Infinity : Math.max(20, layout.width - indent)
  return facts.map(({ name, text, isOdd }) => {
    const value = wrapText(printable(text), room).join(`\n${' '.repeat(indent)}`)
    const line = `${isOdd ? '!' : ' '} ${padTo(name, nameWidth)}  ${value}`
    return isOdd ? paint(layout, 'yellow', line) : line
  })
}
