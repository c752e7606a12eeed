import { constants, fstatSync, openSync } from 'node:fs'
import { pino } from 'pino'
import type { Logger } from 'pino'
import type { LogLevel } from '../config.ts'

export interface LogOptions {
  readonly level: LogLevel
  readonly process: 'supervisor' | 'tracker' | 'engine'
}

/** How much of a log that cannot be written is kept in memory. Later lines are lost. */
const unwrittenBytesMax = 262_144

/**
 * Logs JSON lines to stderr, each written at once, so that the last line before a crash is there.
 * Callers never pass it secrets or ids of shoppers; the redaction is a second line of defence.
 */
export function createLog(options: LogOptions): Logger {
  const destination = pino.destination({
    fd: openOutput(),
    sync: true,
    maxLength: unwrittenBytesMax,
    // It would sleep until somebody reads.
    retryEAGAIN: () => false,
  })
  // The disk may be full, the terminal closed, or nobody reads. No process ends or waits because it cannot log; each
  // later line tries again.
  destination.on('error', () => undefined)
  const log = pino(
    {
      level: options.level,
      base: { process: options.process, pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: ['*.authorization', '*.key', '*.trackingData', 'req.headers', 'headers'],
    },
    destination
  )
  let lostLines = 0
  destination.on('drop', () => (lostLines += 1))
  destination.on('write', () => {
    if (lostLines === 0) return
    const text = `${lostLines} lines of the log are lost, since nobody read it`
    lostLines = 0
    setImmediate(() => log.warn(text))
  })
  return log
}

/**
 * Standard error. A pipe is opened once more, so that a write fails at once when it is full: its reader may hang, and a
 * process that waits for it takes no events. A file is not opened again, because all processes must go on to share one
 * position in it; a socket cannot be.
 */
function openOutput(): number {
  const standard = 2
  try {
    if (!fstatSync(standard).isFIFO()) return standard
    return openSync('/proc/self/fd/2', constants.O_WRONLY | constants.O_NONBLOCK)
  } catch {
    return standard
  }
}
