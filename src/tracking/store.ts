import { isReceiptInstant } from '../domain/windows.ts'
import { ServiceError } from '../errors.ts'
import type { SpoolRecord } from '../spool/record.ts'
import type { Spool } from '../spool/spool.ts'

/**
 * Resolves when the record is on disk. A receipt from a clock that was never set would move the event
 * to a day that nobody reports, so it is not acknowledged: the sender repeats it.
 */
export async function store(spool: Pick<Spool, 'append'>, record: SpoolRecord): Promise<void> {
  if (!isReceiptInstant(record.receivedAtMs)) {
    throw new ServiceError('CLOCK_UNSET', 'the clock of this node is not between 2020 and 2100')
  }
  await spool.append(record)
}
