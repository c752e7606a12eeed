import type { History, HistoryEvent } from './history.ts'

/**
 * The history, and some of its ads once more at another publisher, under the same ids: whoever knows an id
 * can mint a token with it under a key of their own. Their events come just before or after the others.
 */
export function withSameIds(history: History, random: () => number): History {
  const publisherId = history.publisherId + 50
  const atOther = ({ ad, receivedAtMs, ...event }: HistoryEvent): HistoryEvent => ({
    ...event,
    ad: { ...ad, publisherId, siteId: publisherId * 10 + 1 },
    receivedAtMs: receivedAtMs + (random() < 0.5 ? -1 : 1),
  })
  const others = history.events.filter(() => random() < 0.3).map((event) => atOther(event))
  return { ...history, events: [...history.events, ...others] }
}
