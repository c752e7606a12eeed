// A sender that resets its connection behind the request and never waits for the answer.

import { once } from 'node:events'
import { connect as connectPlain, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'

export interface ResetTarget {
  readonly port: number
  readonly path: string
  /** Speaks TLS when set, trusting this certificate. */
  readonly ca?: Buffer
}

interface Sending {
  readonly body: Buffer
  readonly isGzip?: boolean
  readonly headers?: Readonly<Record<string, string>>
  /** Between the last byte and the reset. */
  readonly waitMs?: number
}

export async function sendAndReset(target: ResetTarget, sending: Sending): Promise<void> {
  const raw = connectPlain(target.port, '127.0.0.1')
  raw.on('error', ignore)
  await once(raw, 'connect')
  const socket = target.ca === undefined ? raw : await secure(raw, target.ca)
  const more = Object.entries(sending.headers ?? {}).map(([name, value]) => `${name}: ${value}\r\n`)
  const head =
    `POST ${target.path} HTTP/1.1\r\nhost: x\r\ncontent-length: ${sending.body.length}\r\n` +
    `${sending.isGzip === true ? 'content-encoding: gzip\r\n' : ''}${more.join('')}\r\n`
  await new Promise<void>((resolve) => {
    socket.write(Buffer.concat([Buffer.from(head), sending.body]), () => resolve())
  })
  if (sending.waitMs !== undefined) await sleep(sending.waitMs)
  // Below TLS, so that no polite end goes before it.
  raw.resetAndDestroy()
}

async function secure(raw: Socket, ca: Buffer): Promise<Socket> {
  const socket = connectTls({ socket: raw, ca, servername: 'localhost' })
  socket.on('error', ignore)
  await once(socket, 'secureConnect')
  return socket
}

/** The connection is meant to break. */
function ignore(): void {}
