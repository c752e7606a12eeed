// How nodes divide work without asking each other: every task has an owner, which each of them computes from the list of
// those that are alive (rendezvous hashing). When a node comes or goes, only the tasks that it gains or had change hands.
import { createHash } from 'node:crypto'

/** A hint, never a lock: nodes may disagree for a while, and then a task is done twice or a moment later. */
export interface Division {
  /** Among how many nodes the work is divided, this one included; 0 while that is not known. */
  readonly nodeCount: number
  /** Whether a task is this node's. */
  owns(task: string): boolean
}

/** What a node that knows of no other goes by. */
export const undivided: Division = { nodeCount: 1, owns: () => true }

/** A node that cannot say yet who else is there leaves everything to others. */
export const idle: Division = { nodeCount: 0, owns: () => false }

/** `nodeIds` are those of the living; this node counts as alive. */
export function divide(ownId: string, nodeIds: readonly string[]): Division {
  const others = [...new Set(nodeIds)].filter((id) => id !== ownId)
  if (others.length === 0) return undivided
  const known = new Map<string, boolean>()
  return {
    nodeCount: others.length + 1,
    owns: (task) => {
      const told = known.get(task)
      if (told !== undefined) return told
      const own = weigh(task, ownId)
      const owns = others.every((id) => weigh(task, id) < own)
      if (known.size < knownMax) known.set(task, owns)
      return owns
    },
  }
}

/** Buckets, steps, and months of markets, of which there may be many. */
const knownMax = 10_000

/** Greater by chance, and the same on every node. Texts of one length are compared like numbers. */
function weigh(task: string, nodeId: string): string {
  return createHash('sha256').update(`${task} ${nodeId}`).digest('hex')
}
