import type { ComponentChild } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Me } from '../../src/contract/me.ts'
import { Api } from './api.ts'
import { Failure, Loading } from './components/notices.tsx'
import { t } from './language.ts'
import { useLoaded } from './loaded.ts'
import { Invitation } from './pages/invitation.tsx'
import { SignIn } from './pages/sign-in.tsx'
import { replaceWith, usePlace } from './router.ts'
import { keyStorage, SessionContext, type SignInWish } from './session.ts'
import { signOn, signOutOf, type SignOn } from './sign-on.ts'
import { Shell } from './shell.tsx'
import { openTabs, type Tabs } from './tabs.ts'

export function App() {
  const [key, setKey] = useState(keyStorage.read)
  const [isSignedOn, setIsSignedOn] = useState(signOn !== null)
  const [notice, setNotice] = useState<string | null>(null)
  const [link, setLink] = useSignInLink()
  const signIn = (wish: SignInWish) => {
    keyStorage.forget(key)
    keyStorage.keep(wish)
    setNotice(null)
    setLink(null)
    setKey(wish.key)
  }
  const end = (reason: string | null) => {
    keyStorage.forget(key)
    setNotice(reason)
    setIsSignedOn(false)
    setKey(null)
  }
  const tabs = useTabs({
    key,
    isAsking: key === null && link === null && !isSignedOn,
    onLent: (lent) => signIn({ key: lent, isKept: false }),
    onLeft: () => end(t('You have signed out in another tab.')),
  })
  const signOut = (reason: string | null) => {
    // A key that was refused is refused in other tabs as well, which say so themselves.
    if (key !== null && reason === null) tabs?.leave(key)
    end(reason)
  }
  if (link !== null) {
    return <Invitation key={link.code} {...link} onSignIn={signIn} onLeave={() => setLink(null)} />
  }
  if (key === null && isSignedOn && signOn !== null) {
    return <SignedOn by={signOn} onLeave={() => setIsSignedOn(false)} />
  }
  if (key === null) return <SignIn notice={notice} onSignIn={signIn} />
  return <SignedIn key={key} secret={key} onEnd={signOut} />
}

interface TabsWish {
  readonly key: string | null
  /** Whether a key of another tab is welcome. */
  readonly isAsking: boolean
  readonly onLent: (key: string) => void
  readonly onLeft: () => void
}

/** Null until the page is drawn. */
function useTabs(wish: TabsWish): Tabs | null {
  const latest = useRef(wish)
  latest.current = wish
  const [tabs, setTabs] = useState<Tabs | null>(null)
  useEffect(() => {
    const opened = openTabs({
      lent: keyStorage.readLent,
      onLent: (key) => latest.current.isAsking && latest.current.onLent(key),
      onLeft: (key) => key === latest.current.key && latest.current.onLeft(),
    })
    setTabs(opened)
    if (latest.current.isAsking) opened.ask()
    return opened.close
  }, [])
  return tabs
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
  const leave = () => onEnd(null)
  return (
    <Dashboard
      api={api}
      signOut={leave}
      otherwise={
        <button type="button" onClick={leave}>
          {t('Sign out')}
        </button>
      }
    />
  )
}

interface SignedOnProps {
  readonly by: SignOn
  /** To sign in with a key instead. */
  readonly onLeave: () => void
}

/** Without a key, as whom the proxy in front says. */
function SignedOn({ by, onLeave }: SignedOnProps) {
  const [end, setEnd] = useState<{ readonly code: string | null } | null>(null)
  const api = useMemo(() => new Api(null, (code) => setEnd({ code })), [])
  const signOut = signOutOf(by)
  const hasChanged = end?.code === 'PERSON_CHANGED'
  const ways = (
    <div class="actions">
      {end !== null && (
        <button type="button" class="primary" onClick={() => location.reload()}>
          {hasChanged ? t('Load the page anew') : t('Sign in again')}
        </button>
      )}
      <button type="button" onClick={onLeave}>
        {t('Sign in with a key')}
      </button>
      {signOut !== null && (
        <button type="button" onClick={signOut}>
          {t('Sign out')}
        </button>
      )}
    </div>
  )
  if (end === null) return <Dashboard api={api} signOut={signOut} otherwise={ways} />
  return (
    <main class="alone">
      <h1>Shelftrace</h1>
      <p role="alert">
        {hasChanged
          ? t('Somebody else has signed in in this browser, so this page has stopped.')
          : t('You are not signed in, or not any more.')}
      </p>
      {ways}
    </main>
  )
}

interface DashboardProps {
  readonly api: Api
  readonly signOut: (() => void) | null
  /** What can be done where it is not known who is signed in. */
  readonly otherwise: ComponentChild
}

function Dashboard({ api, signOut, otherwise }: DashboardProps) {
  const me = useLoaded('me', async (signal) => {
    const own = await api.get<Me>('v2/me', signal)
    if (own.signOn) api.actAs(own.name)
    return own
  })
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
        {otherwise}
      </main>
    )
  }
  return (
    <SessionContext.Provider value={{ api, me: me.value, signOut }}>
      <Shell />
    </SessionContext.Provider>
  )
}
