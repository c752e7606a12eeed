// Counts the answers of a tracker and how long they took. This runs for every event, so it only looks up
// and adds; the engine makes metrics of the counts.

/** Upper ends of the buckets of latencies, in seconds; one more bucket holds what took longer. */
export const latencyBounds = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
] as const

/** A reason comes from a closed list, and always with the same status. */
export interface CountedAnswer {
  readonly status: number
  readonly reason?: string
}

/** The counts of one process since its start. */
export interface TrackerCounts {
  readonly routes: readonly RouteCounts[]
  readonly cpuSeconds: number
  readonly residentBytes: number
  /** Connections refused or closed for want of room. */
  readonly droppedConnections: number
}

export interface RouteCounts {
  /** The path of the documentation, never one that was asked for. */
  readonly route: string
  readonly answers: readonly AnswerCount[]
  /** By bucket, each counted once. */
  readonly latencies: readonly number[]
  readonly secondsTotal: number
}

export interface AnswerCount {
  readonly status: number
  /** Empty if the request was not refused. */
  readonly reason: string
  readonly count: number
}

interface Counting {
  /** A reason has one status, so it or the status alone tells answers apart. */
  readonly answers: Map<string | number, { -readonly [Key in keyof AnswerCount]: AnswerCount[Key] }>
  readonly latencies: number[]
  secondsTotal: number
}

export class RequestCounts {
  readonly #routes = new Map<string, Counting>()

  note(route: string, { status, reason }: CountedAnswer, ms: number): void {
    const counting = this.#countingOf(route)
    const key = reason ?? status
    const answer = counting.answers.get(key)
    if (answer === undefined) counting.answers.set(key, { status, reason: reason ?? '', count: 1 })
    else answer.count += 1
    const bucket = bucketOf(ms / 1_000)
    counting.latencies[bucket] = (counting.latencies[bucket] ?? 0) + 1
    counting.secondsTotal += ms / 1_000
  }

  read(): readonly RouteCounts[] {
    return [...this.#routes].map(([route, { answers, latencies, secondsTotal }]) => ({
      route,
      answers: [...answers.values()],
      latencies,
      secondsTotal,
    }))
  }

  #countingOf(route: string): Counting {
    const known = this.#routes.get(route)
    if (known !== undefined) return known
    const counting: Counting = {
      answers: new Map(),
      latencies: Array.from({ length: latencyBounds.length + 1 }, () => 0),
      secondsTotal: 0,
    }
    this.#routes.set(route, counting)
    return counting
  }
}

function bucketOf(seconds: number): number {
  let bucket = 0
  while (bucket < latencyBounds.length && seconds > (latencyBounds[bucket] ?? 0)) bucket += 1
  return bucket
}
