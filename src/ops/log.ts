import { pino } from 'pino'
import type { Logger } from 'pino'
import type { LogLevel } from '../config.ts'

export interface LogOptions {
  readonly level: LogLevel
  readonly process: 'supervisor' | 'tracker' | 'engine'
}

/**
 * JSON lines on stderr, written at once, so that the last line before a crash is there. What could
 * hold a secret or a shopper's id is never handed to it; the redaction is a second lock.
 */
export function createLog(options: LogOptions): Logger {
  return pino(
    {
      level: options.level,
      base: { process: options.process, pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: ['*.authorization', '*.key', '*.trackingData', 'req.headers', 'headers'],
    },
    pino.destination({ fd: 2, sync: true })
  )
}
