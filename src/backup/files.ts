import { createHash } from 'node:crypto'
import { open, mkdir, readdir } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { dirname, join } from 'node:path'

const chunkBytes = 1_048_576

export interface CopiedFile {
  readonly bytes: number
  /** The digest of the bytes that were written. */
  readonly sha256: string
}

/** Copies a file into a new one, which is synced when this resolves. Never overwrites. */
export async function copyFile(from: string, to: string): Promise<CopiedFile> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 })
  const source = await open(from, 'r')
  try {
    const target = await open(to, 'wx', 0o600)
    try {
      const copied = await pour(source, target)
      await target.sync()
      return copied
    } finally {
      await target.close()
    }
  } finally {
    await source.close()
  }
}

async function pour(source: FileHandle, target: FileHandle): Promise<CopiedFile> {
  const hash = createHash('sha256')
  const chunk = Buffer.allocUnsafe(chunkBytes)
  let bytes = 0
  for (;;) {
    const { bytesRead } = await source.read(chunk, 0, chunkBytes, bytes)
    if (bytesRead === 0) return { bytes, sha256: hash.digest('hex') }
    hash.update(chunk.subarray(0, bytesRead))
    for (let done = 0; done < bytesRead;) {
      const { bytesWritten } = await target.write(chunk, done, bytesRead - done, bytes + done)
      done += bytesWritten
    }
    bytes += bytesRead
  }
}

/** Without this, a power cut could lose the names of files that are synced themselves. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** Syncs the folder and all folders below it. */
export async function syncFolders(path: string): Promise<void> {
  const entries = await readdir(path, { withFileTypes: true })
  for (const entry of entries) {
    if (entry.isDirectory()) await syncFolders(join(path, entry.name))
  }
  await syncFolder(path)
}

/** Lists all files below a folder, as relative paths. Links are skipped. */
export async function listFiles(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true })
  const lists = await Promise.all(
    entries.map(async (entry) => {
      if (entry.isFile()) return [entry.name]
      if (!entry.isDirectory()) return []
      return (await listFiles(join(folder, entry.name))).map((path) => join(entry.name, path))
    })
  )
  return lists.flat()
}
