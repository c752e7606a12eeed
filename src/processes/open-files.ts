// The limit of open files and sockets of a process. Node raises the soft limit to the hard one when it
// starts, so the limit that an operator set for the service counts.

import { ServiceError } from '../errors.ts'

export const limits = {
  /** ClickHouse in process alone has about 120 open while it is idle, and more while it merges. */
  openFilesMin: 512,
  /** Files of a tracker: its own, segments of the spool, certificates that are read again. */
  trackerFiles: 96,
  /** Files of the engine: its own and those of the warehouse. */
  engineFiles: 400,
} as const

/** Infinity if there is no limit. */
export function openFilesMax(): number {
  const report: unknown = process.report.getReport()
  const soft = ['userLimits', 'open_files', 'soft'].reduce<unknown>(
    (value, name) =>
      typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined,
    report
  )
  return typeof soft === 'number' ? soft : Infinity
}

/** Throws CONFIG_INVALID: with fewer a service would start and fail later, under load. */
export function refuseFewOpenFiles(filesMax: number): void {
  if (filesMax >= limits.openFilesMin) return
  throw new ServiceError(
    'CONFIG_INVALID',
    `the limit of open files is ${filesMax}, at least ${limits.openFilesMin} are needed: ` +
      'raise it (ulimit -n, or LimitNOFILE of systemd)'
  )
}
