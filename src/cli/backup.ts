import { setTimeout as sleep } from 'node:timers/promises'
import { resolve } from 'node:path'
import { backupListSchema, backupSchema, type Backup } from '../contract/backups.ts'
import { CliError, usageError, type Run, type CommandContext } from './command.ts'
import { listCommand } from './list.ts'
import { tell } from './progress.ts'
import { counted, formatSize } from './words.ts'

const lookPauseMs = 500

export const backup: Run = async (context) => {
  const [name] = context.positionals
  const call = { method: 'POST', path: '/backups', json: { name } } as const
  const started = await context.call(backupSchema, call)
  const ended = await awaitEnd(context, started)
  if (ended.state !== 'complete') {
    throw new CliError(`The backup ${ended.name} failed: ${ended.reason ?? 'it broke off'}.`)
  }
  const { folder, takenAt, bytes } = ended
  context.print(
    ended,
    `The backup is complete: ${folder}, all up to ${takenAt}, ${formatSize(bytes ?? 0)}, without secrets.`
  )
  return 0
}

async function awaitEnd(context: CommandContext, started: Backup): Promise<Backup> {
  let current: Backup | undefined = started
  while (current?.state === 'running') {
    await sleep(lookPauseMs)
    const { backups } = await context.call(backupListSchema, { method: 'GET', path: '/backups' })
    current = backups.find(({ name }) => name === started.name)
    const { bytes = 0, bytesTotal } = current ?? {}
    if (bytesTotal !== undefined)
      tell(context.terminal, `${formatSize(bytes)} of ${formatSize(bytesTotal)}`)
  }
  tell(context.terminal, null)
  if (current === undefined) throw new CliError(`The folder of ${started.name} is gone.`)
  return current
}

export const backupList = listCommand({
  path: '/backups',
  answer: backupListSchema,
  rows: 'backups',
  columns: ['name', 'state', 'takenAt', 'bytes', 'reason'],
  empty: 'There is no backup.',
})

export const restore: Run = async ({ terminal, options, positionals, print }) => {
  const [folder = ''] = positionals
  // As from a variable of a script that is not set; it would be the current folder.
  if (folder === '') throw usageError('FOLDER must not be empty: name the folder of a backup')
  // Loaded on demand: no other command needs ClickHouse.
  const { runRestore } = await import('../restore.ts')
  const restored = await runRestore(terminal.environment, {
    source: resolve(folder),
    acceptsUnsigned: options['unsigned'] === true,
    onProgress: ({ fileCount, fileTotal }) => {
      if (fileCount % 100 === 0) tell(terminal, `${fileCount} of ${fileTotal} files`)
    },
  })
  tell(terminal, null)
  const { dataDir, takenAt, fileCount, rowCount } = restored
  print(
    restored,
    `Restored into ${dataDir}: all up to ${takenAt}, ${counted(fileCount, 'file')} and ${counted(rowCount, 'row')}, checked.`
  )
  return 0
}
