import { useEffect, useRef, useState } from 'preact/hooks'
import { Mark } from '../components/mark.tsx'

interface SignInProps {
  readonly notice: string | null
  readonly onSignIn: (key: string) => void
}

// The characters that a header may carry: the browser would refuse any other before it sends the request.
const keyForm = /^[A-Za-z0-9._~+/-]+=*$/u

export function SignIn({ notice, onSignIn }: SignInProps) {
  const [problem, setProblem] = useState(notice)
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    document.title = 'Sign in · Shelftrace'
    input.current?.focus()
  }, [])
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    const key = input.current?.value.trim() ?? ''
    if (keyForm.test(key)) onSignIn(key)
    else setProblem(key === '' ? 'Enter a key.' : 'This cannot be a key: it has other characters.')
  }
  return (
    <main class="alone sign-in">
      <Mark />
      <h1>Sign in to Shelftrace</h1>
      <form onSubmit={submit} noValidate>
        <label>
          <span class="name">Key</span>
          <input
            ref={input}
            type="password"
            autocomplete="off"
            spellcheck={false}
            required
            aria-invalid={problem !== null}
            aria-describedby="key-problem key-help"
          />
        </label>
        <p id="key-problem" class="problem" role="alert">
          {problem}
        </p>
        <button type="submit" class="primary">
          Sign in
        </button>
        <p id="key-help" class="muted">
          Your operator gave you a key. It stays in this browser tab and is forgotten when you close
          the tab or sign out.
        </p>
      </form>
    </main>
  )
}
