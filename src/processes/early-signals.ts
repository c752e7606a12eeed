// The signals that end a node, before its supervisor listens to them.

const signals = ['SIGTERM', 'SIGINT'] as const

/** Ends the process with 0, until `handOver`. */
export function leaveOnSignals(): void {
  for (const signal of signals) process.on(signal, leave)
}

/** Call this when something else listens to the signals. */
export function handOver(): void {
  for (const signal of signals) process.off(signal, leave)
}

function leave(): void {
  process.exit(0)
}
