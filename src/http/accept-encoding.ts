/**
 * How much a caller wants a coding, which may have several names; 0: not at all. RFC 9110, 12.5.3: a coding counts
 * unless its weight is 0, and its own entry goes before `*`.
 */
export function codingWeight(acceptEncoding: string, ...names: readonly string[]): number {
  const weights = new Map<string, number>()
  for (const part of acceptEncoding.toLowerCase().split(',')) {
    const [coding = '', ...parameters] = part.split(';').map((text) => text.trim())
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1'
    weights.set(coding, Number(weight))
  }
  const [found = 0] = [...names, '*'].flatMap((name) => weights.get(name) ?? [])
  return Number.isNaN(found) ? 0 : found
}
