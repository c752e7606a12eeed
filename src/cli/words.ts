// Numbers, sizes and durations for people. `--json` prints them exactly.

/** `24,457,431` */
export function formatCount(count: number): string {
  return String(count).replaceAll(/\B(?=(?:\d{3})+$)/gu, ',')
}

/** `1 entry`, `2 entries`. Without a plural, the singular with an s. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`
}

const sizeUnits = ['bytes', 'kB', 'MB', 'GB', 'TB', 'PB'] as const

/** `24.5 MB`, in powers of 1000. */
export function formatSize(bytes: number): string {
  let size = bytes
  let unit = 0
  // What would be printed as 1,000 is 1 of the next unit.
  while (size >= (unit === 0 ? 1_000 : 999.5) && unit < sizeUnits.length - 1) {
    size /= 1_000
    unit += 1
  }
  if (unit === 0) return counted(bytes, 'byte')
  return `${size >= 99.95 ? Math.round(size) : size.toFixed(1).replace(/\.0$/u, '')} ${sizeUnits[unit]}`
}

/** `6 s`, `2 min 5 s`, `3 h 20 min`, `2 d 4 h`: the two largest units. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 9_950) return `${(ms / 1_000).toFixed(1).replace(/\.0$/u, '')} s`
  const seconds = Math.round(ms / 1_000)
  const parts = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3_600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ] as const
  const first = parts.findIndex(([count]) => count > 0)
  return parts
    .slice(first, first + 2)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${formatCount(count)} ${unit}`)
    .join(' ')
}
