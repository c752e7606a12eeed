// Ends test files that run too long, so that a hang becomes an error with a name instead of a run without an end.
import { readdirSync, readFileSync } from 'node:fs'

export interface FileLimitOptions {
  readonly limitMs: number
  /** `isEnded` is false where the processes of the file could not be found. */
  readonly onOverdue: (path: string, isEnded: boolean) => void
}

export class FileLimit {
  readonly #options: FileLimitOptions
  readonly #timers = new Map<string, NodeJS.Timeout>()

  constructor(options: FileLimitOptions) {
    this.#options = options
  }

  /** The file is run by a child of this process, whose command line names the path. */
  begin(path: string): void {
    this.#timers.set(
      path,
      setTimeout(() => this.#end(path), this.#options.limitMs)
    )
  }

  complete(path: string): void {
    clearTimeout(this.#timers.get(path))
    this.#timers.delete(path)
  }

  /** A process that the file started would otherwise keep its output open, and the runner waits for that. */
  #end(path: string): void {
    const root = listProcesses().find(
      ({ pid, parent }) => parent === process.pid && commandLine(pid).includes(path)
    )
    if (root !== undefined) for (const pid of stopTree(root.pid)) signal(pid, 'SIGKILL')
    this.#options.onOverdue(path, root !== undefined)
  }
}

interface Process {
  readonly pid: number
  readonly parent: number
}

/** Empty outside of Linux. */
function listProcesses(): readonly Process[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/u.test(name))
      .map((name) => ({ pid: Number(name), parent: parentOf(name) }))
  } catch {
    return []
  }
}

/**
 * Stops the process and all that it started, and returns them. One that is killed while it starts another would leave
 * that one behind, where nobody finds it; one that is stopped starts nothing more.
 */
function stopTree(root: number): ReadonlySet<number> {
  const stopped = new Set<number>()
  for (;;) {
    const running = treeOf(root, listProcesses()).filter((pid) => !stopped.has(pid))
    if (running.length === 0) return stopped
    for (const pid of running) {
      signal(pid, 'SIGSTOP')
      stopped.add(pid)
    }
  }
}

function treeOf(root: number, processes: readonly Process[]): readonly number[] {
  const children = processes.filter(({ parent }) => parent === root)
  return [root, ...children.flatMap(({ pid }) => treeOf(pid, processes))]
}

function parentOf(pid: string): number {
  return Number(/^PPid:\s*(\d+)/mu.exec(readProcess(`${pid}/status`))?.[1])
}

function commandLine(pid: number): string {
  return readProcess(`${pid}/cmdline`)
}

function readProcess(file: string): string {
  try {
    return readFileSync(`/proc/${file}`, 'utf8')
  } catch {
    // It has ended since it was listed.
    return ''
  }
}

function signal(pid: number, name: 'SIGSTOP' | 'SIGKILL'): void {
  try {
    process.kill(pid, name)
  } catch {
    // It ended by itself, or with its parent.
  }
}
