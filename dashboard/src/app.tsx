import { useLayoutEffect, useMemo, useState } from 'preact/hooks'
import type { Me } from '../../src/contract/me.ts'
import { Api } from './api.ts'
import { Failure, Loading } from './components/notices.tsx'
import { t } from './language.ts'
import { useLoaded } from './loaded.ts'
import { Invitation } from './pages/invitation.tsx'
import { SignIn } from './pages/sign-in.tsx'
import { replaceWith, usePlace } from './router.ts'
import { keyStorage, SessionContext, type SignInWish } from './session.ts'
import { Shell } from './shell.tsx'

export function App() {
  const [key, setKey] = useState(keyStorage.read)
  const [notice, setNotice] = useState<string | null>(null)
  const [link, setLink] = useSignInLink()
  const signIn = (wish: SignInWish) => {
    keyStorage.forget()
    keyStorage.keep(wish)
    setNotice(null)
    setLink(null)
    setKey(wish.key)
  }
  const end = (reason: string | null) => {
    keyStorage.forget()
    setNotice(reason)
    setKey(null)
  }
  if (link !== null) {
    return <Invitation key={link.code} {...link} onSignIn={signIn} onLeave={() => setLink(null)} />
  }
  if (key === null) return <SignIn notice={notice} onSignIn={signIn} />
  return <SignedIn key={key} secret={key} onEnd={end} />
}

interface SignInLink {
  readonly code: string
  readonly isAtOnce: boolean
}

/** The code of the address, which is taken out of it: it must not stay in the history of the browser. */
function useSignInLink(): [SignInLink | null, (link: SignInLink | null) => void] {
  const { path } = usePlace()
  const [link, setLink] = useState<SignInLink | null>(null)
  const [page, code] = path
  const isLink = (page === 'invitation' || page === 'sign-in') && code !== undefined
  useLayoutEffect(() => {
    if (!isLink) return
    setLink({ code, isAtOnce: page === 'sign-in' })
    replaceWith('#/')
  }, [isLink, page, code])
  return [link, setLink]
}

interface SignedInProps {
  readonly secret: string
  readonly onEnd: (reason: string | null) => void
}

function SignedIn({ secret, onEnd }: SignedInProps) {
  const api = useMemo(
    () => new Api(secret, () => onEnd(t('The key is not valid: unknown, expired or revoked.'))),
    [secret]
  )
  const me = useLoaded('me', async (signal) => await api.get<Me>('v2/me', signal))
  if (me.state === 'loading') {
    return (
      <main class="alone">
        <Loading what={t('the dashboard')} />
      </main>
    )
  }
  if (me.state === 'failed') {
    return (
      <main class="alone">
        <h1>Shelftrace</h1>
        <Failure messages={me.messages} onRetry={me.retry} />
        <button type="button" onClick={() => onEnd(null)}>
          {t('Sign out')}
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
