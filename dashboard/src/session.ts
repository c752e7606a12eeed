import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Scope } from '../../src/contract/admin.ts'
import type { Me } from '../../src/contract/me.ts'
import type { Api } from './api.ts'
import { openKept } from './storage.ts'

export const keptDays = 30

export interface SignInWish {
  readonly key: string
  /** Whether it outlives the tab. */
  readonly isKept: boolean
}

const inTab = openKept('sessionStorage', 'shelftrace.key')
const onComputer = openKept('localStorage', 'shelftrace.kept-key')

/**
 * The key survives a reload and ends with the last tab that has it: tabs lend it to new ones. Where people ask for it,
 * it stays on the computer for 30 days, for every tab.
 */
export const keyStorage = {
  read: (): string | null => inTab.read() ?? readKept(),
  /** Without what stays on the computer: that has an end of its own. */
  readLent: inTab.read,
  keep({ key, isKept }: SignInWish): void {
    if (!isKept) return inTab.keep(key)
    onComputer.keep(JSON.stringify({ key, endsAtMs: Date.now() + keptDays * 86_400_000 }))
  },
  /** Of a tab with this key. What stays on the computer may be another tab's, with another key. */
  forget(key: string | null): void {
    inTab.forget()
    if (readKept() === key) onComputer.forget()
  },
}

function readKept(): string | null {
  const text = onComputer.read()
  if (text === null) return null
  try {
    const { key, endsAtMs }: { readonly key?: unknown; readonly endsAtMs?: unknown } =
      JSON.parse(text)
    if (typeof key === 'string' && typeof endsAtMs === 'number' && Date.now() < endsAtMs) return key
  } catch {
    // Somebody else wrote it: it is no key.
  }
  onComputer.forget()
  return null
}

export interface Session {
  readonly api: Api
  readonly me: Me
  /** Null: whoever is signed in by a proxy signs out there. */
  readonly signOut: (() => void) | null
}

export const SessionContext = createContext<Session | null>(null)

export function useSession(): Session {
  const session = useContext(SessionContext)
  if (session === null) throw new Error('this part of the page is for those who are signed in')
  return session
}

export function isAllowed({ scopes }: Me, scope: Scope): boolean {
  return scopes.includes(scope) || scopes.includes('admin')
}
