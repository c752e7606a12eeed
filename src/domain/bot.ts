import { isbot } from 'isbot'

// The shoppers of a shop have a few thousand user agents; checking one takes microseconds.
const userAgentsMax = 20_000

/** Returns a check whether a user agent is a bot, which remembers its answers. */
export function createBotCheck(): (userAgent: string) => boolean {
  const known = new Map<string, boolean>()
  return (userAgent) => {
    // A missing user agent says nothing.
    if (userAgent === '') return false
    const remembered = known.get(userAgent)
    if (remembered !== undefined) return remembered
    if (known.size >= userAgentsMax) known.clear()
    const answer = isbot(userAgent)
    known.set(userAgent, answer)
    return answer
  }
}
