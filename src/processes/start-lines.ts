// What a node says of its data folder, seconds before it takes traffic.

interface Starting {
  readonly dataDir: string
  readonly secretsFile: string
  /** Files with secrets that were not there and are made now. */
  readonly newSecrets: readonly string[]
}

/**
 * A start in the wrong folder makes another installation there, with secrets that fit no link and no shopper of the
 * right one: so a new installation is told as such.
 */
export function startLines({ dataDir, secretsFile, newSecrets }: Starting): string {
  const files = newSecrets.join(' and ')
  if (newSecrets.includes(secretsFile)) {
    return [
      `It makes a new installation in the data folder ${dataDir}, with new secrets in ${files}.`,
      'If there should be one already, stop this and set SHELFTRACE_DATA_DIR to its data folder.\n',
    ].join('\n')
  }
  const made = newSecrets.length === 0 ? '' : `, with a new key in ${files}`
  return `Its data folder is ${dataDir}${made}.\n`
}
