import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Remembers that the identity secret of this node is the one of its warehouse. Until the engine has compared
 * them, no event is taken: purchases hashed under a foreign secret would match nobody, so an answer of 200
 * would be wrong. Afterwards the node takes events even while the warehouse is away.
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
