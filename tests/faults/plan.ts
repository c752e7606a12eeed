// Which faults strike, drawn before any does: the same seed plans the same faults, whatever becomes of
// them.

import { Random } from '../../scripts/demo/random.ts'
import type { Installation } from './installation.ts'
import type { FaultKind } from './kinds/kind.ts'

/** Some faults strike while another lasts. */
const pairShare = 0.15
const seedMax = 2 ** 31

interface PlannedFault {
  readonly kind: FaultKind
  /** Of what it draws itself. */
  readonly seed: number
}

/** Faults that strike together, after a pause. */
export interface Round {
  /** Of its first fault, from 1. */
  readonly number: number
  readonly pauseMs: number
  readonly faults: readonly PlannedFault[]
}

export function planRounds(options: {
  readonly seed: number
  readonly faultCount: number
  readonly kinds: readonly FaultKind[]
}): readonly Round[] {
  const { seed, faultCount, kinds } = options
  const random = new Random(seed)
  const rounds: Round[] = []
  for (let number = 1; number <= faultCount;) {
    const pauseMs = random.between(100, 1_200)
    const first = draw(kinds, random)
    const others = kinds.filter(
      ({ targets }) => !targets.some((target) => first.targets.includes(target))
    )
    const isPair = random.chance(pairShare) && others.length > 0 && number < faultCount
    const drawn = isPair ? [first, draw(others, random)] : [first]
    const faults = drawn.map((kind) => ({ kind, seed: random.between(0, seedMax) }))
    rounds.push({ number, pauseMs, faults })
    number += faults.length
  }
  return rounds
}

/** Those of the kinds that can strike this installation. */
export function possibleKinds(
  kinds: readonly FaultKind[],
  { warehouse, trackingNodes }: Installation
): readonly FaultKind[] {
  const hasSmallDisks = trackingNodes.every(({ disk }) => disk !== null)
  return kinds.filter(
    ({ needs }) =>
      (!needs.includes('warehouse server') || warehouse !== null) &&
      (!needs.includes('small disk') || hasSmallDisks)
  )
}

/** How often each kind strikes, a line. */
export function printMix(rounds: readonly Round[]): string {
  const counts = new Map<string, number>()
  for (const { kind } of rounds.flatMap(({ faults }) => faults)) {
    counts.set(kind.name, (counts.get(kind.name) ?? 0) + 1)
  }
  const mix = [...counts].toSorted(([one], [other]) => one.localeCompare(other))
  return mix.map(([name, count]) => `${count} × ${name}`).join(', ')
}

function draw(kinds: readonly FaultKind[], random: Random): FaultKind {
  const total = kinds.reduce((sum, { weight }) => sum + weight, 0)
  let rest = random.fraction() * total
  for (const kind of kinds) {
    rest -= kind.weight
    if (rest < 0) return kind
  }
  throw new Error('there is no fault to draw')
}
