import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const spoolDiskBytes = 64 * 1024 ** 2
const blockBytes = 262_144

/** A file system of its own, so that filling it fills nothing else. */
export class SmallDisk {
  readonly #path: string

  private constructor(path: string) {
    this.#path = path
  }

  /** Null where this user may not mount. */
  static mount(path: string): SmallDisk | null {
    mkdirSync(path, { recursive: true, mode: 0o700 })
    const options = `size=${spoolDiskBytes},mode=0700`
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', path])
    return mounted.status === 0 ? new SmallDisk(path) : null
  }

  /** Leaves about so many bytes free, rounded down to whole blocks. */
  fill(options: { readonly freeBytes: number }): void {
    const { bavail, bsize } = statfsSync(this.#path)
    const bytes = bavail * bsize - options.freeBytes
    const ballast = Buffer.alloc(blockBytes)
    try {
      for (let done = 0; done < bytes; done += blockBytes) {
        writeFileSync(this.#ballastPath, ballast, { flag: 'a' })
      }
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error
    }
  }

  free(): void {
    rmSync(this.#ballastPath, { force: true })
  }

  unmount(): void {
    spawnSync('umount', ['--lazy', this.#path])
  }

  get #ballastPath(): string {
    return join(this.#path, 'ballast')
  }
}
