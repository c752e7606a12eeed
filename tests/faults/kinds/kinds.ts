// Everything that is made to fail.

import { batchKinds } from './batches.ts'
import { clockKinds } from './clocks.ts'
import { connectionKinds } from './connections.ts'
import type { FaultKind } from './kind.ts'
import { portKinds } from './ports.ts'
import { processKinds } from './processes.ts'
import { readerKinds } from './readers.ts'
import { warehouseKinds } from './warehouse.ts'

export const faultKinds: readonly FaultKind[] = [
  ...processKinds,
  ...warehouseKinds,
  ...clockKinds,
  ...portKinds,
  ...connectionKinds,
  ...readerKinds,
  ...batchKinds,
]

/**
 * The kinds of these names, or whose names begin with these words: `kill` is all that kill. A text that
 * fits none throws, with all that there are.
 */
export function findKinds(texts: readonly string[]): readonly FaultKind[] {
  const unknown = texts.find((text) => !faultKinds.some((kind) => isNamed(kind, text)))
  if (unknown !== undefined) {
    const names = faultKinds.map(({ name }) => `  ${name}`).join('\n')
    throw new Error(`no kind of fault is called ${JSON.stringify(unknown)}; there are\n${names}`)
  }
  return faultKinds.filter((kind) => texts.some((text) => isNamed(kind, text)))
}

function isNamed({ name }: FaultKind, text: string): boolean {
  return name === text || name.startsWith(`${text} `)
}
