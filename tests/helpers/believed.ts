import type { HistoryDelivery, HistoryReturn } from './history.ts'

/** Whether it counts: a void says no, else the latest judgement decides, else where it came from. */
export function isBelieved({
  untrusted,
  voided,
  judged,
}: HistoryDelivery | HistoryReturn): boolean {
  if (voided === true) return false
  return judged === undefined ? !untrusted : judged === 'valid'
}
