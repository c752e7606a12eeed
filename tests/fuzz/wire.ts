// A client of bare sockets: it sends whatever bytes it is given, which every proper client refuses to
// do, and takes no answer that is not HTTP to the letter.
import { connect, type Socket } from 'node:net'

export interface Reply {
  readonly status: number
  /** Names in lower case, in the order of the answer. */
  readonly headers: readonly (readonly [string, string])[]
  readonly body: Buffer
}

/** What came back on a connection: whole answers, and what was wrong with what came after them. */
export interface Heard {
  readonly replies: readonly Reply[]
  readonly fault: 'none' | 'no-answer' | 'cut' | 'malformed' | 'timeout'
  readonly isClosed: boolean
}

interface Listening {
  /** As many as were asked for; a connection that closes first ends the waiting. */
  readonly repliesMax: number
  readonly isHead: boolean
  readonly timeoutMs: number
  /** Half of the connection is closed after the bytes, as by a sender that has gone. */
  readonly isEnding?: boolean
}

const replyBytesMax = 64 * 1_048_576
const statusLine = /^HTTP\/1\.1 ([1-5]\d\d) [\x20-\x7e]*$/
const headerLine = /^([!#$%&'*+.^_`|~\w-]+): ?([\x20-\x7e\x80-\xff\t]*)$/

export class Wire {
  readonly #port: number
  #socket: Socket | null = null

  constructor(port: number) {
    this.#port = port
  }

  /** Sends and listens. The connection is used again by the next call, unless it was closed. */
  async exchange(bytes: readonly Buffer[], listening: Listening): Promise<Heard> {
    const socket = this.#socket ?? (await this.#open())
    this.#socket = socket
    const heard = await listen(socket, bytes, listening)
    if (heard.isClosed || heard.fault !== 'none') this.close()
    return heard
  }

  close(): void {
    this.#socket?.destroy()
    this.#socket = null
  }

  async #open(): Promise<Socket> {
    return await new Promise((resolve, reject) => {
      const socket = connect(this.#port, '127.0.0.1')
      socket.setNoDelay(true)
      socket.once('connect', () => {
        socket.off('error', reject)
        socket.on('error', ignoreReset)
        resolve(socket)
      })
      socket.once('error', reject)
    })
  }
}

/** A reset shows as a close, and that is judged. */
function ignoreReset(): void {}

async function listen(
  socket: Socket,
  bytes: readonly Buffer[],
  { repliesMax, isHead, timeoutMs, isEnding = false }: Listening
): Promise<Heard> {
  return await new Promise((resolve) => {
    const replies: Reply[] = []
    let buffered: Buffer = Buffer.alloc(0)
    let isOver = false
    const finish = (fault: Heard['fault'], isClosed: boolean) => {
      if (isOver) return
      isOver = true
      clearTimeout(timer)
      socket.off('data', take)
      socket.off('close', onClose)
      resolve({ replies, fault, isClosed })
    }
    const read = (isClosed: boolean) => {
      while (replies.length < repliesMax) {
        const found = parseReply(buffered, { isHead, isClosed })
        if (found === 'malformed') return finish('malformed', true)
        if (found === 'more') return
        buffered = buffered.subarray(found.length)
        // 100 and 103 go before the answer.
        if (found.reply.status >= 200) replies.push(found.reply)
      }
      const isEnded = saysClose(replies.at(-1))
      // What is no HTTP has no method that the server could know: its refusal to a HEAD has a body.
      if (buffered.length > 0 && !(isHead && isEnded)) return finish('malformed', true)
      finish('none', isClosed || isEnded)
    }
    const take = (chunk: Buffer) => {
      buffered = buffered.length === 0 ? chunk : Buffer.concat([buffered, chunk])
      if (buffered.length > replyBytesMax) return finish('malformed', true)
      read(false)
    }
    const onClose = () => {
      read(true)
      if (buffered.length > 0) finish('cut', true)
      else finish(replies.length === 0 ? 'no-answer' : 'none', true)
    }
    const timer = setTimeout(() => finish('timeout', true), timeoutMs)
    socket.on('data', take)
    socket.on('close', onClose)
    for (const part of bytes) socket.write(part)
    if (isEnding) socket.end()
    if (socket.destroyed) onClose()
  })
}

function saysClose(reply: Reply | undefined): boolean {
  return reply?.headers.some(([name, value]) => name === 'connection' && value === 'close') === true
}

interface Found {
  readonly reply: Reply
  readonly length: number
}

interface ReplyContext {
  readonly isHead: boolean
  readonly isClosed: boolean
}

function parseReply(bytes: Buffer, context: ReplyContext): Found | 'more' | 'malformed' {
  const headEnd = bytes.indexOf('\r\n\r\n')
  if (headEnd === -1) return 'more'
  const [first = '', ...lines] = bytes.toString('latin1', 0, headEnd).split('\r\n')
  const status = Number(statusLine.exec(first)?.[1] ?? 0)
  const headers: [string, string][] = []
  for (const line of lines) {
    const [, name, value] = headerLine.exec(line) ?? []
    if (name === undefined || value === undefined) return 'malformed'
    headers.push([name.toLowerCase(), value])
  }
  if (status === 0) return 'malformed'
  const start = headEnd + 4
  const body = parseBody(bytes.subarray(start), { ...context, status, headers })
  if (typeof body === 'string') return body
  return { reply: { status, headers, body: body.bytes }, length: start + body.length }
}

interface BodyContext extends ReplyContext {
  readonly status: number
  readonly headers: readonly (readonly [string, string])[]
}

interface FoundBody {
  readonly bytes: Buffer
  readonly length: number
}

function parseBody(bytes: Buffer, context: BodyContext): FoundBody | 'more' | 'malformed' {
  const { status, isHead, isClosed, headers } = context
  const lengths = headers.filter(([name]) => name === 'content-length').map(([, value]) => value)
  const codings = headers.filter(([name]) => name === 'transfer-encoding')
  if (lengths.length + codings.length > 1) return 'malformed'
  if (isHead || status < 200 || status === 204 || status === 304) {
    return { bytes: Buffer.alloc(0), length: 0 }
  }
  if (codings.length === 1) return parseChunks(bytes)
  const [lengthText] = lengths
  if (lengthText === undefined) {
    const isDelimitedByClose = headers.some(
      ([name, value]) => name === 'connection' && value === 'close'
    )
    if (!isDelimitedByClose) return 'malformed'
    return isClosed ? { bytes, length: bytes.length } : 'more'
  }
  if (!/^\d{1,9}$/.test(lengthText)) return 'malformed'
  const length = Number(lengthText)
  return bytes.length < length ? 'more' : { bytes: bytes.subarray(0, length), length }
}

function parseChunks(bytes: Buffer): FoundBody | 'more' | 'malformed' {
  const parts: Buffer[] = []
  let at = 0
  for (;;) {
    const lineEnd = bytes.indexOf('\r\n', at)
    if (lineEnd === -1) return 'more'
    const sizeText = bytes.toString('latin1', at, lineEnd)
    if (!/^[0-9a-f]{1,7}$/i.test(sizeText)) return 'malformed'
    const size = Number.parseInt(sizeText, 16)
    const start = lineEnd + 2
    if (bytes.length < start + size + 2) return 'more'
    if (bytes.toString('latin1', start + size, start + size + 2) !== '\r\n') return 'malformed'
    at = start + size + 2
    if (size === 0) return { bytes: Buffer.concat(parts), length: at }
    parts.push(bytes.subarray(start, start + size))
  }
}
