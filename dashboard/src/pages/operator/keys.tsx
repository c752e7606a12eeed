import { useState } from 'preact/hooks'
import type { KeyList } from '../../../../src/contract/admin.ts'
import { CopyButton } from '../../components/copy-button.tsx'
import { KeyForm, type Made } from '../../components/key-form.tsx'
import { Empty, Failure, Stages } from '../../components/notices.tsx'
import { Table, type TableColumn } from '../../components/table.tsx'
import { formatInstant, nothing } from '../../format.ts'
import { t } from '../../language.ts'
import { messagesOf, useLoaded } from '../../loaded.ts'
import { useSession } from '../../session.ts'

type Key = KeyList['keys'][number]

/** Lists, makes and revokes keys. */
export function Keys() {
  const { api } = useSession()
  const [made, setMade] = useState<Made | null>(null)
  const list = useLoaded('keys', async (signal) => await api.get<KeyList>('admin/v1/keys', signal))
  const refresh = list.state === 'ready' ? list.refresh : () => {}
  const onMade = (response: Made) => {
    setMade(response)
    refresh()
  }
  return (
    <>
      <div class="head">
        <h1>{t('Keys')}</h1>
      </div>
      {made !== null && <MadeKey made={made} onClose={() => setMade(null)} />}
      <KeyForm onMade={onMade} />
      <section class="card" aria-label={t('All keys')}>
        <h2>{t('All keys')}</h2>
        <Stages loaded={list} what={t('the keys')}>
          {({ keys }) =>
            keys.length === 0 ? (
              <Empty>{t('No key was made yet.')}</Empty>
            ) : (
              <KeyTable keys={keys} onRevoked={refresh} />
            )
          }
        </Stages>
      </section>
    </>
  )
}

interface MadeKeyProps {
  readonly made: Made
  readonly onClose: () => void
}

function MadeKey({ made, onClose }: MadeKeyProps) {
  return (
    <div class="notice made" role="status">
      <p>{made.words}</p>
      {made.secret !== null && (
        <p>
          <code>{made.secret}</code>
        </p>
      )}
      <div class="actions">
        {made.secret !== null && <CopyButton text={made.secret} />}
        <button type="button" onClick={onClose}>
          {t('Done')}
        </button>
      </div>
    </div>
  )
}

interface KeyTableProps {
  readonly keys: readonly Key[]
  readonly onRevoked: () => void
}

function KeyTable({ keys, onRevoked }: KeyTableProps) {
  const columns: readonly TableColumn<Key>[] = [
    { name: 'name', label: t('Name'), cell: ({ name }) => name },
    // Beside the name: what is done in a hurry is in sight, however wide the rest is.
    {
      name: 'state',
      label: t('State'),
      cell: (key) =>
        key.revokedAt === undefined ? (
          <span class="actions">
            {key.signOn === true && <span class="badge">{t('By sign-on')}</span>}
            {key.invited === true && <span class="badge">{t('Invited')}</span>}
            <RevokeButton listed={key} onRevoked={onRevoked} />
          </span>
        ) : (
          <span class="badge">{t('Revoked {{time}}', { time: formatInstant(key.revokedAt) })}</span>
        ),
    },
    { name: 'scopes', label: t('Scopes'), cell: ({ scopes }) => scopes.join(', ') },
    {
      name: 'advertisers',
      label: t('Advertisers'),
      cell: ({ advertisers }) => partiesOf(advertisers),
    },
    { name: 'publishers', label: t('Publishers'), cell: ({ publishers }) => partiesOf(publishers) },
    { name: 'created', label: t('Made'), cell: ({ createdAt }) => formatInstant(createdAt) },
    { name: 'expires', label: t('Expires'), cell: ({ expiresAt }) => formatInstant(expiresAt) },
  ]
  return <Table caption={t('All keys')} columns={columns} rows={keys} keyOf={({ id }) => id} />
}

function partiesOf(ids: 'all' | readonly number[]): string {
  if (ids === 'all') return t('all')
  return ids.length === 0 ? nothing : ids.join(', ')
}

interface RevokeButtonProps {
  readonly listed: Key
  readonly onRevoked: () => void
}

/** Asks for confirmation, since it cannot be undone. */
function RevokeButton({ listed, onRevoked }: RevokeButtonProps) {
  const { api } = useSession()
  const [isAsking, setIsAsking] = useState(false)
  const [messages, setMessages] = useState<readonly string[]>([])
  const revoke = async () => {
    try {
      await api.delete(`admin/v1/keys/${encodeURIComponent(listed.id)}`)
      onRevoked()
    } catch (error) {
      setMessages(messagesOf(error))
    }
    setIsAsking(false)
  }
  if (messages.length > 0) return <Failure messages={messages} onRetry={() => setMessages([])} />
  if (!isAsking) {
    return (
      <button
        type="button"
        aria-label={t('Revoke {{name}}', { name: listed.name })}
        onClick={() => setIsAsking(true)}
      >
        {t('Revoke')}
      </button>
    )
  }
  return (
    <span class="actions">
      <button type="button" class="danger" onClick={() => void revoke()}>
        {t('Revoke for good')}
      </button>
      <button type="button" onClick={() => setIsAsking(false)}>
        {t('Keep')}
      </button>
    </span>
  )
}
