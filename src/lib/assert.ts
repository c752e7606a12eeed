/**
 * States what the programmer holds to be true. A failure is a fault of ours, never of a caller:
 * it crashes the request, or the process at start, and is answered as a bare 500.
 */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(`assertion failed: ${message}`)
}
