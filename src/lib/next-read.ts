// One reading at a time of each thing. Whoever asks while it is being read shares the next reading, which begins after
// they asked: so nobody gets what was there before, and many who ask at once cost two readings.

interface Running<Answer> {
  readonly answer: Promise<Answer>
  next: Promise<Answer> | null
}

export class NextRead<Answer> {
  readonly #running = new Map<string, Running<Answer>>()

  /** What is read under one key is the same, whoever's `read` is called. A failure is that of all who share it. */
  async ask(key: string, read: () => Promise<Answer>): Promise<Answer> {
    const running = this.#running.get(key)
    if (running === undefined) return await this.#begin(key, read)
    running.next ??= running.answer.then(
      () => this.#begin(key, read),
      () => this.#begin(key, read)
    )
    return await running.next
  }

  #begin(key: string, read: () => Promise<Answer>): Promise<Answer> {
    const running: Running<Answer> = { answer: read(), next: null }
    this.#running.set(key, running)
    const forget = () => {
      if (running.next === null) this.#running.delete(key)
    }
    running.answer.then(forget, forget)
    return running.answer
  }
}
