import { useState } from 'preact/hooks'
import type { KeyRequest, KeyResponse, Scope } from '../../../src/contract/admin.ts'
import type { InvitationResponse } from '../../../src/contract/invitations.ts'
import type { Api } from '../api.ts'
import { formatInstant } from '../format.ts'
import { messagesOf } from '../loaded.ts'
import { useSession } from '../session.ts'
import { signOn } from '../sign-on.ts'
import { Failure } from './notices.tsx'
import { t } from '../language.ts'

const scopes: readonly (readonly [Scope, string])[] = [
  ['report:read', t('read reports')],
  ['site:read', t('list placements')],
  ['asset:write', t('attach assets')],
  ['link:mint', t('mint tracking links')],
  ['events:write', t('backfill events')],
  ['intake:read', t('read what a publisher sent')],
  ['delivery:write', t('deliver purchases and returns of a publisher')],
  ['metrics:read', t('read metrics')],
  ['admin', t('everything')],
]

/** Reads `all` or a list of ids; null if it is neither. An empty text is an empty list. */
function parseParties(text: string): 'all' | readonly number[] | null {
  if (text.trim() === 'all') return 'all'
  const words = text.split(/[\s,]+/u).filter((word) => word !== '')
  return words.every((word) => /^[1-9]\d{0,9}$/u.test(word)) ? words.map(Number) : null
}

/** What was made, to be shown once. */
export interface Made {
  readonly words: string
  /** Null: there is none. */
  readonly secret: string | null
}

interface KeyFormProps {
  readonly onMade: (made: Made) => void
}

export function KeyForm({ onMade }: KeyFormProps) {
  const { api } = useSession()
  const [messages, setMessages] = useState<readonly string[]>([])
  const submit = async (form: HTMLFormElement, way: string) => {
    const request = requestOf(new FormData(form))
    if (typeof request === 'string') return setMessages([request])
    try {
      const made = await (ways[way] ?? makeKey)(api, request)
      setMessages([])
      form.reset()
      onMade(made)
    } catch (error) {
      setMessages(messagesOf(error))
    }
  }
  return (
    <details class="card make-key">
      <summary>{t('Make a key, or invite a person')}</summary>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          const button = event.submitter
          void submit(event.currentTarget, button instanceof HTMLButtonElement ? button.name : '')
        }}
      >
        {messages.length > 0 && <Failure messages={messages} />}
        <div class="bar">
          <label>
            <span>{t('Name: who holds it')}</span>
            <input name="name" maxLength={500} autocomplete="off" required />
          </label>
          <label>
            <span>{t('Advertisers: all, or ids')}</span>
            <input name="advertisers" autocomplete="off" />
          </label>
          <label>
            <span>{t('Publishers: all, or ids')}</span>
            <input name="publishers" autocomplete="off" />
          </label>
          <label>
            <span>{t('Expires at the end of (UTC)')}</span>
            <input name="expires" type="date" />
          </label>
        </div>
        <fieldset class="toggles">
          <legend>{t('It may')}</legend>
          {scopes.map(([scope, words]) => (
            <label key={scope}>
              <input type="checkbox" name="scope" value={scope} />
              {words}
            </label>
          ))}
        </fieldset>
        <WaysToGiveAccess />
      </form>
    </details>
  )
}

function WaysToGiveAccess() {
  return (
    <div class="actions">
      <button type="submit" class="primary">
        {t('Make the key')}
      </button>
      <button type="submit" name="invite">
        {t('Invite by a link')}
      </button>
      {signOn !== null && (
        <button type="submit" name="admit">
          {t('Give access by sign-on')}
        </button>
      )}
    </div>
  )
}

/** What else can be made of the form, by the name of its button. */
const ways: Readonly<Record<string, typeof makeKey>> = { invite, admit }

async function makeKey(api: Api, request: KeyRequest): Promise<Made> {
  const { key } = await api.post<KeyResponse>('admin/v1/keys', request)
  return {
    words: t('The key is made. It is shown this once; only its hash is stored.'),
    secret: key,
  }
}

async function invite(api: Api, request: KeyRequest): Promise<Made> {
  const made = await api.post<InvitationResponse>('admin/v1/invitations', request)
  return {
    words: t(
      'Send this link to the person. It works once, until {{time}}, and is shown this once.',
      { time: formatInstant(made.expiresAt) }
    ),
    secret: new URL(made.address, document.baseURI).href,
  }
}

/** For whom the proxy in front signs in; the name of the form is the e-mail address. */
async function admit(api: Api, { name: person, ...rights }: KeyRequest): Promise<Made> {
  await api.post('admin/v1/people', { person, ...rights })
  return {
    words: t('{{person}} has access and is signed in by your sign-on, without a key.', { person }),
    secret: null,
  }
}

/** The request, or the fault of the form. */
function requestOf(form: FormData): KeyRequest | string {
  const text = (name: string) => {
    const value = form.get(name)
    return typeof value === 'string' ? value.trim() : ''
  }
  const advertisers = parseParties(text('advertisers'))
  const publishers = parseParties(text('publishers'))
  const chosen = scopes
    .map(([scope]) => scope)
    .filter((scope) => form.getAll('scope').includes(scope))
  if (text('name') === '') return t('Say who holds the key.')
  if (advertisers === null || publishers === null) {
    return t('Advertisers and publishers are the word all, or ids with commas between them.')
  }
  if (chosen.length === 0) return t('Choose at least one thing that the key may do.')
  return {
    name: text('name'),
    scopes: chosen,
    ...(advertisers.length > 0 && { advertisers }),
    ...(publishers.length > 0 && { publishers }),
    ...(text('expires') !== '' && { expiresAt: `${text('expires')}T23:59:59Z` }),
  }
}
