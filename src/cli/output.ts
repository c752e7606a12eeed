// What becomes of the standard output: nothing that was lost on it may look as if it had been written.
import { fstatSync, writeSync } from 'node:fs'
import { Writable } from 'node:stream'
import { systemCode } from '../lib/system-error.ts'

/** The standard output of this process. */
export function openStandardOutput(): Writable {
  const { stdout } = process
  return fstatSync(stdout.fd).isFile() ? new FileOutput(stdout.fd) : stdout
}

/**
 * A full disk takes the first part of a text, and says that it is full only at the next write, which Node's own stream
 * never tries.
 */
export class FileOutput extends Writable {
  readonly #fd: number

  constructor(fd: number) {
    super({ decodeStrings: true })
    this.#fd = fd
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    try {
      for (let at = 0; at < chunk.length;) at += writeSync(this.#fd, chunk, at)
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)))
      return
    }
    done()
  }
}

/**
 * Returns a function that waits for what was written before it is called, and resolves with the first failure, unless
 * that is that nobody reads on.
 */
export function watchOutput(output: Writable): () => Promise<Error | null> {
  let first: Error | null = null
  output.on('error', (error) => {
    first ??= error
  })
  return async () => {
    // An error is told by an event, which comes after the callback of its write.
    await new Promise((resolve) => output.write('', resolve))
    await new Promise((resolve) => setImmediate(resolve))
    // A reader such as `head` may close the pipe; the command still runs to its end.
    return systemCode(first) === 'EPIPE' ? null : first
  }
}
