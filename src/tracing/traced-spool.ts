import type { Spool } from '../spool/spool.ts'
import type { Tracing } from './tracing.ts'

/**
 * The spool of a tracker. A record of a traced request carries its context on, so that the engine can link to it. The
 * request is told as lasting from its receipt until its record is on disk.
 */
export function tracedSpool(spool: Spool, tracing: Tracing): Spool {
  return {
    append(record) {
      if (!tracing.toss()) return spool.append(record)
      const name = record.type === 'ad-event' ? record.kind : record.type
      const options = { startMs: record.receivedAtMs, attributes: { 'shelftrace.event': name } }
      return tracing.run(`receive ${name}`, options, () =>
        tracing.run('spool append', {}, () =>
          spool.append({ ...record, trace: tracing.current() ?? '' })
        )
      )
    },
    read: (recordsMax, after) => spool.read(recordsMax, after),
    remove: (batch) => spool.remove(batch),
    depth: () => spool.depth(),
    close: () => spool.close(),
  }
}
