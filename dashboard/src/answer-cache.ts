/** As many answers as a reader goes back and forth between. */
const answersMax = 20

/** The last answers of a session: shown at once where they are asked for again, while they are read anew. */
export class AnswerCache {
  readonly #answers = new Map<string, unknown>()

  /** The caller knows of which kind the answers of its keys are. */
  get(key: string): unknown {
    return this.#answers.get(key)
  }

  set(key: string, answer: unknown): void {
    this.#answers.delete(key)
    this.#answers.set(key, answer)
    const [oldest] = this.#answers.keys()
    if (this.#answers.size > answersMax && oldest !== undefined) this.#answers.delete(oldest)
  }
}
