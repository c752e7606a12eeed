// What the benchmarks of a whole service read of it.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Service } from '../tests/helpers/service.ts'

/** The key ring as text, for a load that mints its own links. */
export function keyRingOf({ dataDir }: Service): string {
  const path = join(dataDir, 'secrets.json')
  const { keyRing } = JSON.parse(readFileSync(path, 'utf8')) as { keyRing: unknown }
  return JSON.stringify(keyRing)
}

/** Memory of the first process of its kind: in use now, or at its peak. */
export function memoryMb(
  service: Service,
  program: 'tracker' | 'engine',
  field: 'VmRSS' | 'VmHWM'
): number {
  const [pid] = service.children(program)
  const pages = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(new RegExp(String.raw`${field}:\s+(\d+)`, 'u').exec(pages)?.[1] ?? 0) / 1_000
}

/** CPU time that the first process of its kind has taken so far. */
export function cpuSeconds(service: Service, program: 'tracker' | 'engine'): number {
  const [pid] = service.children(program)
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  // Fields 14 and 15, in hundredths of a second.
  return (Number(stat[11]) + Number(stat[12])) / 100
}
