// What signals do before the program is loaded: those that end a node, and the one of Node's debugger.

const signals = ['SIGTERM', 'SIGINT'] as const

/** Ends the process with 0, until `handOver`. */
export function leaveOnSignals(): void {
  for (const signal of signals) process.on(signal, leave)
}

/** Call this when something else listens to the signals. */
export function handOver(): void {
  for (const signal of signals) process.off(signal, leave)
}

/**
 * Node answers SIGUSR1 with its debugger, through which every user of the machine can run code as this one. With a
 * listener it does not. `--inspect` is not affected.
 */
export function ignoreDebuggerSignal(): void {
  process.on('SIGUSR1', () => undefined)
}

function leave(): void {
  process.exit(0)
}
