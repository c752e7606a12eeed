// Whether a proxy in front of the service signs people in: the page says so, which the proxy lets through to them only.
import { signOnMeta } from '../../src/domain/person.ts'

export interface SignOn {
  /** Null: only the proxy knows where its session is ended. */
  readonly signOutUrl: string | null
}

/** Null: people sign in with a key. */
export const signOn: SignOn | null = readSignOn()

function readSignOn(): SignOn | null {
  const content = document.querySelector(`meta[name="${signOnMeta}"]`)?.getAttribute('content')
  return content === null || content === undefined
    ? null
    : { signOutUrl: content === '' ? null : content }
}

/** How to leave, if there is a way. */
export function signOutOf({ signOutUrl }: SignOn): (() => void) | null {
  return signOutUrl === null ? null : () => location.assign(signOutUrl)
}
