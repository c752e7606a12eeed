const plainIntervalMs = 4_000
const terminalIntervalMs = 100

/** One line that is rewritten on a terminal, a line every few seconds elsewhere. */
export class Progress {
  readonly #stream: NodeJS.WriteStream
  #shownAtMs = 0
  #isOpen = false
  #isClosed = false

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream
  }

  update(text: string): void {
    const nowMs = Date.now()
    const intervalMs = this.#stream.isTTY ? terminalIntervalMs : plainIntervalMs
    if (nowMs - this.#shownAtMs < intervalMs) return
    this.#shownAtMs = nowMs
    this.#write(text)
  }

  /** A line that stays; the next one is shown at once. */
  done(text: string): void {
    this.#write(text)
    if (this.#isOpen) this.#stream.write('\n')
    this.#isOpen = false
    this.#shownAtMs = 0
  }

  /** For a run that was cut short and does not know it yet. */
  close(): void {
    this.#isClosed = true
  }

  #write(text: string): void {
    if (this.#isClosed) return
    if (!this.#stream.isTTY) {
      this.#stream.write(`${text}\n`)
      return
    }
    this.#stream.write(`\r\u001B[K${text.slice(0, this.#stream.columns - 1)}`)
    this.#isOpen = true
  }
}
