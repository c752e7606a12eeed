export type Gauges = ReadonlyMap<string, number>

const lineForm = /^(?<name>[a-z_:]+)(?:\{[^}]*\})? (?<value>[-+.0-9eE]+)$/u

/** The values of a Prometheus text by name; those with labels are added up. */
export function readGauges(text: string): Gauges {
  const gauges = new Map<string, number>()
  for (const line of text.split('\n')) {
    const groups = lineForm.exec(line)?.groups
    const [name, value] = [groups?.['name'], Number(groups?.['value'])]
    if (name !== undefined && Number.isFinite(value)) {
      gauges.set(name, (gauges.get(name) ?? 0) + value)
    }
  }
  return gauges
}
