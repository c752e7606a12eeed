import { pino } from 'pino'
import type { Logger } from 'pino'
import type { LogLevel } from '../config.ts'

export interface LogOptions {
  readonly level: LogLevel
  readonly process: 'supervisor' | 'tracker' | 'engine'
}

/** What a log that cannot be written holds in memory; what comes beyond it is lost. */
const unwrittenBytesMax = 262_144

/**
 * JSON lines on stderr, written at once, so that the last line before a crash is there. What could
 * hold a secret or a shopper's id is never handed to it; the redaction is a second lock.
 */
export function createLog(options: LogOptions): Logger {
  const destination = pino.destination({ fd: 2, sync: true, maxLength: unwrittenBytesMax })
  // A disk that is full, a terminal that was closed: nothing is ended for want of its log, and each
  // later line tries again.
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
