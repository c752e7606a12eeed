export type Gauges = ReadonlyMap<string, number>

const lineForm = /^(?<name>[a-z_:]+)(?:\{(?<labels>[^}]*)\})? (?<value>[-+.0-9eE]+)$/u
const labelForm = /[a-z_]+="[^"]*"/gu

/**
 * The values of a Prometheus text by name; those with labels are added up. The sum of those with one
 * label stands beside it, under the name with that label alone: `answers{status="503"}`.
 */
export function readGauges(text: string): Gauges {
  const gauges = new Map<string, number>()
  for (const line of text.split('\n')) {
    const groups = lineForm.exec(line)?.groups
    const [name, value] = [groups?.['name'], Number(groups?.['value'])]
    if (name === undefined || !Number.isFinite(value)) continue
    const labels = groups?.['labels']?.match(labelForm) ?? []
    for (const key of [name, ...labels.map((label) => `${name}{${label}}`)]) {
      gauges.set(key, (gauges.get(key) ?? 0) + value)
    }
  }
  return gauges
}
