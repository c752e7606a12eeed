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
  const destination = pino.destination({ fd: 2, sync: true, maxLength: unwrittenBytesMax })
  // The disk may be full or the terminal closed. No process ends because it cannot log; each later line
  // tries again.
  destination.on('error', () => undefined)
  return pino(
    {
      level: options.level,
      base: { process: options.process, pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: ['*.authorization', '*.key', '*.trackingData', 'req.headers', 'headers'],
    },
    destination
  )
}
