import { useEffect, useRef, useState } from 'preact/hooks'
import { KeepSignedIn } from '../components/keep-signed-in.tsx'
import { LanguageChoice } from '../components/language-choice.tsx'
import { Mark } from '../components/mark.tsx'
import { t } from '../language.ts'
import type { SignInWish } from '../session.ts'

interface SignInProps {
  readonly notice: string | null
  readonly onSignIn: (wish: SignInWish) => void
}

// The characters that a header may carry: the browser would refuse any other before it sends the request.
const keyForm = /^[A-Za-z0-9._~+/-]+=*$/u

export function SignIn({ notice, onSignIn }: SignInProps) {
  const [problem, setProblem] = useState(notice)
  const [isKept, setIsKept] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    document.title = `${t('Sign in')} · Shelftrace`
    input.current?.focus()
  }, [])
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    const key = input.current?.value.trim() ?? ''
    if (keyForm.test(key)) onSignIn({ key, isKept })
    else
      setProblem(
        key === '' ? t('Enter a key.') : t('This cannot be a key: it has other characters.')
      )
  }
  return (
    <main class="alone sign-in">
      <Mark />
      <h1>{t('Sign in to Shelftrace')}</h1>
      <form onSubmit={submit} noValidate>
        {/* Password managers want a name for what they keep. */}
        <input
          class="off-screen"
          name="username"
          autocomplete="username"
          value="Shelftrace"
          tabIndex={-1}
          aria-hidden="true"
          readOnly
        />
        <label>
          <span class="name">{t('Key')}</span>
          <input
            ref={input}
            type="password"
            name="password"
            autocomplete="current-password"
            spellcheck={false}
            required
            aria-invalid={problem !== null}
            aria-describedby="key-problem key-help"
          />
        </label>
        <p id="key-problem" class="problem" role="alert">
          {problem}
        </p>
        <KeepSignedIn isKept={isKept} onChange={setIsKept} />
        <button type="submit" class="primary">
          {t('Sign in')}
        </button>
        <p id="key-help" class="muted">
          {t(
            'Your operator gave you a key, or a link that makes one. Unless you keep it on this computer, it is forgotten when you close the tab. Signing out forgets it in any case.'
          )}
        </p>
      </form>
      <LanguageChoice />
    </main>
  )
}
