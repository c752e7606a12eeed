/** Milliseconds since 1970 UTC. Injected everywhere, so that tests own the time. */
export type Clock = () => number

export const systemClock: Clock = () => Date.now()
