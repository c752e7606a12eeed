import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { CliError } from './command.ts'
import type { Run } from './command.ts'

export const createSecrets: Run = async ({ positionals, print }) => {
  const [name = ''] = positionals
  const folder = resolve(name)
  const files = ['secrets.json', 'admin-key'].map((file) => join(folder, file))
  const existing = files.find((file) => existsSync(file))
  if (existing !== undefined) throw new CliError(`${existing} exists. Nothing was changed.`)
  const [secretsFile = ''] = files
  const { ensureSecrets } = await import('../secrets.ts')
  ensureSecrets({ dataDir: folder, secretsFile, adminKey: null })
  print(
    { files },
    `Made ${files.join(' and ')}, readable by you alone. Give both to every node of the installation, and keep a copy: nothing can replace secrets.json.`
  )
  return 0
}
