// The browser's storage. Browsers that block site data throw at the first touch: then what is kept lives as long as the
// page does.

const inMemory = new Map<string, string>()

export interface Kept {
  read(this: void): string | null
  keep(this: void, value: string): void
  forget(this: void): void
}

export function openKept(kind: 'localStorage' | 'sessionStorage', name: string): Kept {
  const storage = storageOf(kind)
  return {
    read: () => tryTo(() => storage?.getItem(name)) ?? inMemory.get(name) ?? null,
    keep: (value) => {
      inMemory.set(name, value)
      tryTo(() => storage?.setItem(name, value))
    },
    forget: () => {
      inMemory.delete(name)
      tryTo(() => storage?.removeItem(name))
    },
  }
}

/** Whether what is kept outlives the page. */
export function canKeep(kind: 'localStorage' | 'sessionStorage'): boolean {
  return storageOf(kind) !== null
}

function storageOf(kind: 'localStorage' | 'sessionStorage'): Storage | null {
  return tryTo(() => globalThis[kind]) ?? null
}

function tryTo<Result>(use: () => Result): Result | null {
  try {
    return use()
  } catch {
    // Blocked, or full.
    return null
  }
}
