import { useMemo, useState } from 'preact/hooks'
import type { Me } from '../../src/contract/me.ts'
import { Api } from './api.ts'
import { Failure, Loading } from './components/notices.tsx'
import { useLoaded } from './loaded.ts'
import { SignIn } from './pages/sign-in.tsx'
import { keyStorage, SessionContext } from './session.ts'
import { Shell } from './shell.tsx'

export function App() {
  const [key, setKey] = useState(keyStorage.read)
  const [notice, setNotice] = useState<string | null>(null)
  const signIn = (entered: string) => {
    keyStorage.keep(entered)
    setNotice(null)
    setKey(entered)
  }
  const end = (reason: string | null) => {
    keyStorage.forget()
    setNotice(reason)
    setKey(null)
  }
  if (key === null) return <SignIn notice={notice} onSignIn={signIn} />
  return <SignedIn key={key} secret={key} onEnd={end} />
}

interface SignedInProps {
  readonly secret: string
  readonly onEnd: (reason: string | null) => void
}

function SignedIn({ secret, onEnd }: SignedInProps) {
  const api = useMemo(
    () => new Api(secret, () => onEnd('The key is not valid: unknown, expired or revoked.')),
    [secret]
  )
  const me = useLoaded('me', async (signal) => await api.get<Me>('v2/me', signal))
  if (me.state === 'loading') {
    return (
      <main class="alone">
        <Loading what="the dashboard" />
      </main>
    )
  }
  if (me.state === 'failed') {
    return (
      <main class="alone">
        <h1>Shelftrace</h1>
        <Failure messages={me.messages} onRetry={me.retry} />
        <button type="button" onClick={() => onEnd(null)}>
          Sign out
        </button>
      </main>
    )
  }
  return (
    <SessionContext.Provider value={{ api, me: me.value, signOut: () => onEnd(null) }}>
      <Shell />
    </SessionContext.Provider>
  )
}
