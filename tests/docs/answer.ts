// Compares what a document shows with what came. An ellipsis stands for what differs each time.

export const ellipsis = '…'

/** Null if the text is the one shown. */
export function textFault(shown: string, actual: string): string | null {
  const parts = shown.trim().split(ellipsis).map(escapePattern)
  const pattern = new RegExp(`^${parts.join('[^]*?')}$`, 'u')
  const came = actual.replaceAll('\r\n', '\n').trim()
  return pattern.test(came) ? null : `shown:\n${shown}\ncame:\n${came}`
}

/** Every place where the value is not the one shown: other fields, another length, another value. */
export function jsonFaults(shown: unknown, actual: unknown, path = ''): readonly string[] {
  if (typeof shown === 'string' && shown.includes(ellipsis)) {
    const fault = textFault(shown, typeof actual === 'string' ? actual : JSON.stringify(actual))
    return fault === null ? [] : [`${path}: ${fault}`]
  }
  if (isObject(shown) && isObject(actual) && Array.isArray(shown) === Array.isArray(actual)) {
    const keys = new Set([...Object.keys(shown), ...Object.keys(actual)])
    return [...keys].flatMap((key) => jsonFaults(shown[key], actual[key], `${path}/${key}`))
  }
  if (Object.is(shown, actual)) return []
  return [`${path}: shown ${JSON.stringify(shown)}, came ${JSON.stringify(actual)}`]
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

function escapePattern(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/gu, String.raw`\$&`)
}
