import { useEffect, useRef, useState } from 'preact/hooks'
import type { ReplayResult, SetAsidePage } from '../../../src/contract/set-aside.ts'
import { formatInstant } from '../format.ts'
import { messagesOf, useLoaded } from '../loaded.ts'
import { useSession } from '../session.ts'
import { wordsOf } from '../words.ts'
import { CursorPager } from './cursor-pager.tsx'
import { countOfPage, Folded, ListToLookAt, type ListPlace } from './list-to-look-at.tsx'
import { Empty, Failure } from './notices.tsx'
import { Table, type TableColumn } from './table.tsx'
import { t } from '../language.ts'

type SetAsideRecord = SetAsidePage['records'][number]

const columns: readonly TableColumn<SetAsideRecord>[] = [
  { name: 'type', label: t('Record'), cell: ({ type }) => wordsOf(type) },
  {
    name: 'reason',
    label: t('Reason'),
    cell: ({ reason }) => <span class="reason">{reason}</span>,
  },
  { name: 'received', label: t('Received'), cell: ({ receivedAt }) => formatInstant(receivedAt) },
  {
    name: 'aside',
    label: t('Set aside'),
    term: 'set-aside',
    cell: ({ setAsideAt }) => formatInstant(setAsideAt),
  },
  { name: 'key', label: t('Key'), cell: ({ key }) => <span class="code">{key}</span> },
]

/** Records that could not be shipped. Those shown can be shipped again. */
export function SetAsideList(place: ListPlace) {
  const { api } = useSession()
  const [after, setAfter] = useState<string | null>(null)
  const [result, setResult] = useState<ReplayResult | null>(null)
  const query = new URLSearchParams({ limit: '100', ...(after !== null && { after }) })
  const path = `admin/v1/set-aside?${query}`
  const list = useLoaded(path, async (signal) => await api.get<SetAsidePage>(path, signal))
  const onReplayed = (replayed: ReplayResult) => {
    setResult(replayed)
    // Start again: another record may be the oldest by now.
    if (after !== null) setAfter(null)
    else if (list.state === 'ready') list.refresh()
  }
  return (
    <ListToLookAt
      {...place}
      title={t('Records set aside')}
      about={t(
        'They could not be stored and do not count. Mend the cause first, then ship them once more.'
      )}
      what={t('the records set aside')}
      loaded={list}
      countOf={({ records, next }) => countOfPage(after, records.length, next)}
      notice={result !== null && <Result result={result} />}
    >
      {({ records, next }) =>
        records.length === 0 && after === null ? (
          <Empty>{t('Nothing to look at: no record is set aside.')}</Empty>
        ) : (
          <Folded rows={records.length} isAsked={place.isAsked}>
            <Table
              caption={t('Records set aside, longest waiting first')}
              columns={columns}
              rows={records}
              keyOf={({ key }) => key}
            />
            <CursorPager
              label={t('Pages of the records set aside')}
              {...{ after, next, onChange: setAfter }}
            />
            {records.length > 0 && (
              <Replay
                key={records.map(({ key }) => key).join(' ')}
                records={records}
                onReplayed={onReplayed}
              />
            )}
          </Folded>
        )
      }
    </ListToLookAt>
  )
}

/** Takes the focus, since the button that led here may be gone. */
function Result({ result }: { readonly result: ReplayResult }) {
  const { replayed, setAsideAgain, unknown, remaining } = result
  const line = useRef<HTMLParagraphElement>(null)
  useEffect(() => line.current?.focus(), [result])
  return (
    <p ref={line} class="notice" role="status" tabIndex={-1}>
      {t('Shipped: {{replayed}}. Set aside again: {{setAsideAgain}}.', { replayed, setAsideAgain })}{' '}
      {unknown > 0 && `${t('No longer waiting: {{unknown}}.', { unknown })} `}
      {t('Still waiting: {{remaining}}.', { remaining })}
    </p>
  )
}

interface ReplayProps {
  readonly records: readonly SetAsideRecord[]
  readonly onReplayed: (result: ReplayResult) => void
}

/** Asks for confirmation beside the button, which keeps its place for the keyboard. */
function Replay({ records, onReplayed }: ReplayProps) {
  const { api } = useSession()
  const [isAsking, setIsAsking] = useState(false)
  const [isBusy, setIsBusy] = useState(false)
  const [messages, setMessages] = useState<readonly string[]>([])
  const opener = useRef<HTMLButtonElement>(null)
  const replay = async () => {
    setIsBusy(true)
    setMessages([])
    try {
      const keys = records.map(({ key }) => key)
      onReplayed(await api.post<ReplayResult>('admin/v1/set-aside/replay', { keys }))
      setIsAsking(false)
    } catch (error) {
      setMessages(messagesOf(error))
    }
    setIsBusy(false)
  }
  const cancel = () => {
    setIsAsking(false)
    setMessages([])
    opener.current?.focus()
  }
  return (
    <div class="actions">
      <button
        ref={opener}
        type="button"
        aria-expanded={isAsking}
        disabled={isBusy}
        onClick={() => setIsAsking(!isAsking)}
      >
        {t('Ship the shown ones once more')}
      </button>
      {isAsking && (
        <>
          <span>
            {t('Is the cause mended? Records shown: {{shown}}.', { shown: records.length })}
          </span>
          <button type="button" class="primary" disabled={isBusy} onClick={() => void replay()}>
            {isBusy ? t('Shipping …') : t('Yes, ship them')}
          </button>
          <button type="button" disabled={isBusy} onClick={cancel}>
            {t('Not now')}
          </button>
        </>
      )}
      {messages.length > 0 && <Failure messages={messages} />}
    </div>
  )
}
