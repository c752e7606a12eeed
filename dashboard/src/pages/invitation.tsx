import { useEffect, useState } from 'preact/hooks'
import type { KeyResponse } from '../../../src/contract/admin.ts'
import { Api, ApiError } from '../api.ts'
import { CopyButton } from '../components/copy-button.tsx'
import { KeepSignedIn } from '../components/keep-signed-in.tsx'
import { LanguageChoice } from '../components/language-choice.tsx'
import { Mark } from '../components/mark.tsx'
import { Failure, Loading } from '../components/notices.tsx'
import { t } from '../language.ts'
import { messagesOf } from '../loaded.ts'
import { addressOf } from '../router.ts'
import type { SignInWish } from '../session.ts'

interface InvitationProps {
  readonly code: string
  /** Accepted at once, and the key is not shown: for whoever has it anyway. */
  readonly isAtOnce: boolean
  readonly onSignIn: (wish: SignInWish) => void
  readonly onLeave: () => void
}

const used = t(
  'This link is not valid any more: it works once, and only for a while. Ask for a new one, or sign in with your key.'
)

/** Programs that look into mail open links too, so an invitation is accepted by a click. */
export function Invitation({ code, isAtOnce, onSignIn, onLeave }: InvitationProps) {
  const [key, setKey] = useState<string | null>(null)
  const [messages, setMessages] = useState<readonly string[]>([])
  const accept = async () => {
    try {
      const made = await new Api(code, () => {}).post<KeyResponse>('v2/invitation', undefined)
      if (isAtOnce) onSignIn({ key: made.key, isKept: false })
      else setKey(made.key)
    } catch (error) {
      setMessages(error instanceof ApiError && error.status === 401 ? [used] : messagesOf(error))
    }
  }
  useEffect(() => {
    document.title = `${t('Invitation')} · Shelftrace`
    if (isAtOnce) void accept()
  }, [code])
  return (
    <main class="alone sign-in">
      <Mark />
      <h1>{t('Welcome to Shelftrace')}</h1>
      {messages.length > 0 && <Failure messages={messages} />}
      {messages.length > 0 && (
        <button type="button" onClick={onLeave}>
          {t('Sign in with a key')}
        </button>
      )}
      {messages.length === 0 && isAtOnce && <Loading what={t('the dashboard')} />}
      {messages.length === 0 && !isAtOnce && key === null && (
        <>
          <p>{t('You are invited to the dashboard. This link works once.')}</p>
          <button type="button" class="primary" onClick={() => void accept()}>
            {t('Accept the invitation')}
          </button>
          <LanguageChoice address={addressOf(['invitation', code])} />
        </>
      )}
      {key !== null && <NewKey secret={key} onSignIn={onSignIn} />}
    </main>
  )
}

interface NewKeyProps {
  readonly secret: string
  readonly onSignIn: (wish: SignInWish) => void
}

function NewKey({ secret, onSignIn }: NewKeyProps) {
  const [isKept, setIsKept] = useState(false)
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        onSignIn({ key: secret, isKept })
      }}
    >
      <p>
        {t('This is your key. Keep it in a password manager: you need it to sign in elsewhere.')}
      </p>
      <p>
        <code>{secret}</code>
      </p>
      <div class="actions">
        <CopyButton text={secret} label={t('Copy the key')} />
      </div>
      <KeepSignedIn isKept={isKept} onChange={setIsKept} />
      <button type="submit" class="primary">
        {t('Open the dashboard')}
      </button>
    </form>
  )
}
