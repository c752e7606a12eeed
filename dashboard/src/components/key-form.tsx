import { useState } from 'preact/hooks'
import type { KeyRequest, KeyResponse, Scope } from '../../../src/contract/admin.ts'
import { messagesOf } from '../loaded.ts'
import { useSession } from '../session.ts'
import { Failure } from './notices.tsx'

const scopes: readonly (readonly [Scope, string])[] = [
  ['report:read', 'read reports'],
  ['site:read', 'list placements'],
  ['asset:write', 'attach assets'],
  ['link:mint', 'mint tracking links'],
  ['events:write', 'backfill events'],
  ['intake:read', 'read what a publisher sent'],
  ['delivery:write', 'deliver purchases and returns of a publisher'],
  ['metrics:read', 'read metrics'],
  ['admin', 'everything'],
]

/** Reads `all` or a list of ids; null if it is neither. An empty text is an empty list. */
function parseParties(text: string): 'all' | readonly number[] | null {
  if (text.trim() === 'all') return 'all'
  const words = text.split(/[\s,]+/u).filter((word) => word !== '')
  return words.every((word) => /^[1-9]\d{0,9}$/u.test(word)) ? words.map(Number) : null
}

interface KeyFormProps {
  readonly onMade: (response: KeyResponse) => void
}

export function KeyForm({ onMade }: KeyFormProps) {
  const { api } = useSession()
  const [messages, setMessages] = useState<readonly string[]>([])
  const submit = async (form: HTMLFormElement) => {
    const request = requestOf(new FormData(form))
    if (typeof request === 'string') return setMessages([request])
    try {
      const response = await api.post<KeyResponse>('admin/v1/keys', request)
      setMessages([])
      form.reset()
      onMade(response)
    } catch (error) {
      setMessages(messagesOf(error))
    }
  }
  return (
    <details class="card make-key">
      <summary>Make a key</summary>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          void submit(event.currentTarget)
        }}
      >
        {messages.length > 0 && <Failure messages={messages} />}
        <div class="bar">
          <label>
            <span>Name: who holds it</span>
            <input name="name" maxLength={500} autocomplete="off" required />
          </label>
          <label>
            <span>Advertisers: all, or ids</span>
            <input name="advertisers" autocomplete="off" />
          </label>
          <label>
            <span>Publishers: all, or ids</span>
            <input name="publishers" autocomplete="off" />
          </label>
          <label>
            <span>Expires at the end of (UTC)</span>
            <input name="expires" type="date" />
          </label>
        </div>
        <fieldset class="toggles">
          <legend>It may</legend>
          {scopes.map(([scope, words]) => (
            <label key={scope}>
              <input type="checkbox" name="scope" value={scope} />
              {words}
            </label>
          ))}
        </fieldset>
        <button type="submit" class="primary">
          Make the key
        </button>
      </form>
    </details>
  )
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
  if (text('name') === '') return 'Say who holds the key.'
  if (advertisers === null || publishers === null) {
    return 'Advertisers and publishers are the word all, or ids with commas between them.'
  }
  if (chosen.length === 0) return 'Choose at least one thing that the key may do.'
  return {
    name: text('name'),
    scopes: chosen,
    ...(advertisers.length > 0 && { advertisers }),
    ...(publishers.length > 0 && { publishers }),
    ...(text('expires') !== '' && { expiresAt: `${text('expires')}T23:59:59Z` }),
  }
}
