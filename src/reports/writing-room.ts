// How many results are written on after their first page was answered. Each holds a session of the warehouse that no
// place of `campaign/report-places.ts` stands for, so the lane of the reports has as many sessions more than places
// need. A result that finds no room is written whole before its page is answered, in the place of its report.

export const roomLimits = {
  writingsMax: 2,
  /** Per key, so that none keeps the room from others. */
  writingsPerOwnerMax: 1,
} as const

export interface Guest {
  readonly owner: string
  /** Resolves once nothing is written any more. */
  readonly ended: Promise<void>
}

interface Waiting {
  readonly guest: Guest
  readonly enter: () => void
}

export class WritingRoom {
  readonly #inside = new Set<Guest>()
  /** In order of arrival. */
  readonly #waiting: Waiting[] = []

  /** Resolves once the writing has room, or needs none because it has ended. */
  async enter(guest: Guest): Promise<void> {
    if (this.#inside.has(guest)) return
    if (this.#mayEnter(guest)) return this.#admit(guest)
    let entry: Waiting | undefined
    const entered = new Promise<void>((resolve) => {
      entry = { guest, enter: resolve }
      this.#waiting.push(entry)
    })
    await Promise.race([entered, guest.ended])
    const index = this.#waiting.findIndex((one) => one === entry)
    if (index !== -1) this.#waiting.splice(index, 1)
  }

  #mayEnter({ owner }: Guest): boolean {
    const ownCount = [...this.#inside].filter((one) => one.owner === owner).length
    return this.#inside.size < roomLimits.writingsMax && ownCount < roomLimits.writingsPerOwnerMax
  }

  #admit(guest: Guest): void {
    this.#inside.add(guest)
    void this.#leaveAtEnd(guest)
  }

  async #leaveAtEnd(guest: Guest): Promise<void> {
    await guest.ended
    this.#inside.delete(guest)
    this.#admitNext()
  }

  #admitNext(): void {
    const index = this.#waiting.findIndex(
      ({ guest }) => this.#inside.has(guest) || this.#mayEnter(guest)
    )
    const [next] = index === -1 ? [] : this.#waiting.splice(index, 1)
    if (next === undefined) return
    if (!this.#inside.has(next.guest)) this.#admit(next.guest)
    next.enter()
    this.#admitNext()
  }
}
