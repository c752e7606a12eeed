// Whether a living process holds a folder, also one of another container on the same volume, whose process id says
// nothing here. It listens at a socket in the folder. The kernel closes that with the process, however it ends.
import { rmSync } from 'node:fs'
import { createConnection, createServer } from 'node:net'
import { once } from 'node:events'
import { join } from 'node:path'

/** Left behind by a process that was killed, and then nobody listens. */
const socketName = 'supervisor.sock'

/** What Linux and macOS take as the path of a socket. */
const pathBytesMax = 103

/**
 * Null if another process holds the folder; otherwise a function that releases it. Where sockets cannot be made (a
 * longer path, some shared file systems), other processes are not noticed, and only the lock of ClickHouse keeps two
 * engines apart. The same is true if two processes start at the same instant and neither listens yet.
 */
export async function holdFolder(folder: string): Promise<(() => void) | null> {
  const path = join(folder, socketName)
  if (Buffer.byteLength(path) > pathBytesMax) return nothingToLetGo
  if (await isAnswered(path)) return null
  const server = createServer((socket) => socket.destroy())
  try {
    rmSync(path, { force: true })
    server.listen(path)
    await once(server, 'listening')
  } catch {
    return nothingToLetGo
  }
  server.unref()
  // It removes the socket too.
  return () => server.close()
}

function nothingToLetGo(): void {
  // Without a socket there is nothing to close.
}

async function isAnswered(path: string): Promise<boolean> {
  const socket = createConnection(path)
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
