// What a node says as soon as it starts, seconds before it takes traffic.

interface Starting {
  readonly version: string
  readonly dataDir: string
  readonly secretsFile: string
  /** Files with secrets that were not there and are made now. */
  readonly newSecrets: readonly string[]
}

/**
 * A start in the wrong folder makes another installation there, with secrets that fit no link and no shopper of the
 * right one: so a new installation is told as such.
 */
export function startLines({ version, dataDir, secretsFile, newSecrets }: Starting): string {
  const files = newSecrets.join(' and ')
  if (newSecrets.includes(secretsFile)) {
    return [
      `Shelftrace ${version} makes a new installation in the data folder ${dataDir}, with new secrets in ${files}.`,
      'If there should be one already, stop this and set SHELFTRACE_DATA_DIR to its data folder.',
      'It starts, which takes a few seconds.\n',
    ].join('\n')
  }
  const made = newSecrets.length === 0 ? '' : `, with a new key in ${files}`
  return `Shelftrace ${version} starts with the data folder ${dataDir}${made}.\n`
}
