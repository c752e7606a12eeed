import { ServiceError } from '../errors.ts'

// Codes that the machine causes and that pass: time-outs, memory, disk, connections, shutdown,
// too many queries or parts. Everything else a statement or its data causes, and it comes again.
const passingCodes = new Set([
  159, 160, 164, 198, 202, 203, 209, 210, 236, 241, 242, 243, 252, 279, 285, 319, 394, 425, 473,
  499, 516, 519, 571, 574, 588, 999,
])

/** Turns an engine's failure into ours; `code` is ClickHouse's own, undefined where none came. */
export function warehouseFailure(
  what: string,
  code: number | undefined,
  cause: unknown
): ServiceError {
  const passes = code === undefined || passingCodes.has(code)
  return new ServiceError(
    passes ? 'WAREHOUSE_UNAVAILABLE' : 'WAREHOUSE_REFUSED',
    passes ? `the warehouse could not take a ${what}` : `the warehouse refused a ${what}`,
    { cause, details: { what, clickhouseCode: code } }
  )
}
