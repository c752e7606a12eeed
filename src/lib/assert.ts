/**
 * States what must be true. A failure is a bug of ours, never a fault of a caller: it fails the request
 * with a bare 500, or ends the process at start.
 */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(`assertion failed: ${message}`)
}
