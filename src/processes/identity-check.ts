import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Whether this node's identity secret is known to be the warehouse's. Until then no event is taken:
 * purchases hashed under a foreign secret would match nobody, and 200 would have been a lie. Once
 * the engine has compared them, the node remembers, and takes events also while the warehouse is
 * away.
 */
export class IdentityCheck {
  readonly #path: string
  readonly #fingerprint: string

  constructor(dataDir: string, fingerprint: string) {
    this.#path = join(dataDir, 'identity-fingerprint')
    this.#fingerprint = fingerprint
  }

  isKnown(): boolean {
    try {
      return readFileSync(this.#path, 'utf8').trim() === this.#fingerprint
    } catch {
      // Nothing is remembered yet: the first start.
      return false
    }
  }

  remember(): void {
    writeFileSync(this.#path, `${this.#fingerprint}\n`, { mode: 0o600 })
  }
}
