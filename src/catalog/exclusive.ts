/** Runs one piece of work after the other, in the order of the calls; a failure holds up nobody. */
export class Exclusive {
  #last: Promise<unknown> = Promise.resolve()

  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(work)
    this.#last = result.catch(ignore)
    return await result
  }
}

/** The caller of `run` gets the failure; the queue only goes on. */
function ignore(): void {}
