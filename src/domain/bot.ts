import { isbot } from 'isbot'

// Browsers of one shop come in a few thousand spellings; asking the list takes microseconds each.
const userAgentsMax = 20_000

/** Whether the well-kept list knows the user agent as a bot; remembers what it was asked. */
export function createBotCheck(): (userAgent: string) => boolean {
  const known = new Map<string, boolean>()
  return (userAgent) => {
    // A missing one tells nothing.
    if (userAgent === '') return false
    const remembered = known.get(userAgent)
    if (remembered !== undefined) return remembered
    if (known.size >= userAgentsMax) known.clear()
    const answer = isbot(userAgent)
    known.set(userAgent, answer)
    return answer
  }
}
