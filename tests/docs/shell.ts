// One shell that outlives the blocks of a guide, so that a variable set in one is known in the next,
// as in the terminal of somebody who follows it.

import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export interface ShellOptions {
  readonly folder: string
  readonly env: Readonly<Record<string, string>>
}

const patienceMs = 60_000

export class Shell {
  readonly #folder: string
  readonly #child: ChildProcess
  readonly #exited: Promise<void>
  #stdout = ''
  #stderr = ''
  #onOutput: () => void = () => undefined

  constructor({ folder, env }: ShellOptions) {
    this.#folder = folder
    this.#child = spawn('bash', ['--noprofile', '--norc', '-eu'], {
      cwd: folder,
      env: { PATH: process.env['PATH'], HOME: folder, ...env },
      stdio: 'pipe',
    })
    this.#exited = new Promise((resolve) => this.#child.once('close', () => resolve()))
    this.#child.stdout?.on('data', (text: Buffer) => {
      this.#stdout += text.toString()
      this.#onOutput()
    })
    this.#child.stderr?.on('data', (text: Buffer) => (this.#stderr += text.toString()))
    // The shell may be gone already when the next block is written to it; `run` tells.
    this.#child.stdin?.on('error', () => undefined)
  }

  /**
   * What the block printed. Rejects when a command of it fails, which also ends the shell; a block that
   * `mayFail` goes on.
   */
  async run(text: string, { mayFail = false } = {}): Promise<string> {
    const mark = `end-of-block-${randomUUID()}`
    const file = join(this.#folder, `.${mark}`)
    writeFileSync(file, text)
    this.#stdout = ''
    this.#stderr = ''
    const ended = new Promise<void>((resolve) => {
      this.#onOutput = () => {
        if (this.#stdout.includes(mark)) resolve()
      }
    })
    // Commands that read their standard input must not read the blocks that follow.
    this.#child.stdin?.write(
      `source '${file}' </dev/null${mayFail ? ' || true' : ''}\nprintf '%s' '${mark}'\n`
    )
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), patienceMs)
    await Promise.race([ended, this.#exited])
    clearTimeout(timer)
    rmSync(file)
    if (!this.#stdout.includes(mark)) {
      throw new Error(`a command failed:\n${text}\n${this.#stdout}\n${this.#stderr}`)
    }
    return this.#stdout.replace(mark, '')
  }

  async close(): Promise<void> {
    this.#child.stdin?.end()
    await this.#exited
  }
}
