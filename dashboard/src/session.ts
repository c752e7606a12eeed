import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Scope } from '../../src/contract/admin.ts'
import type { Me } from '../../src/contract/me.ts'
import type { Api } from './api.ts'
import { openKept } from './storage.ts'

/** The key survives a reload and ends with the tab. Other tabs never see it. */
export const keyStorage = openKept('sessionStorage', 'shelftrace.key')

export interface Session {
  readonly api: Api
  readonly me: Me
  readonly signOut: () => void
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
