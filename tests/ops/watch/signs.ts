import { latencyBounds } from '../../../src/http/request-counts.ts'
import { reportBounds, type VitalSigns } from '../../../src/ops/watch/vital-signs.ts'

/** A node that is well. */
export function calmSigns(atMs: number, changes: Partial<VitalSigns> = {}): VitalSigns {
  return {
    atMs,
    spoolLagMs: 0,
    spoolBytes: 0,
    attributionLagMs: 0,
    failingSteps: [],
    clockOffsetMs: 0,
    trackersAlive: 1,
    silentNodes: 0,
    unsealedDays: 0,
    notBelieved: [],
    installedAtMs: 0,
    lastBackupAtMs: atMs,
    setAside: 0,
    shipped: 0,
    refused: new Map(),
    answers: new Map(),
    trackingSeconds: Array.from({ length: latencyBounds.length + 1 }, () => 0),
    reportSeconds: Array.from({ length: reportBounds.length + 1 }, () => 0),
    ...changes,
  }
}
