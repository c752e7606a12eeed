import { useState } from 'preact/hooks'
import type { Api } from '../api.ts'
import { columns } from '../columns.ts'
import { forSpreadsheet, saveFile } from '../csv.ts'
import { decimalPoint, listSeparator } from '../format.ts'
import { messagesOf } from '../loaded.ts'
import { useSession } from '../session.ts'
import { convertedPrefix } from '../shown-currency.ts'
import { Failure } from './notices.tsx'
import { t } from '../language.ts'

interface DownloadButtonProps {
  /** Of the file. */
  readonly name: string
  /** The CSV of all pages. */
  readonly load: (api: Api) => Promise<string>
}

/** All pages of the table, with its order, filters and columns, for programs or for Excel. */
export function DownloadButton({ name, load }: DownloadButtonProps) {
  const { api } = useSession()
  const [isBusy, setIsBusy] = useState(false)
  const [messages, setMessages] = useState<readonly string[]>([])
  const download = async (finish: (text: string) => string) => {
    setIsBusy(true)
    setMessages([])
    try {
      saveFile(name, finish(await load(api)))
    } catch (error) {
      setMessages(messagesOf(error))
    }
    setIsBusy(false)
  }
  const rules = { decimalPoint: decimalPoint(), listSeparator: listSeparator(), isFigure, isDate }
  return (
    <>
      <button type="button" disabled={isBusy} onClick={() => void download((text) => text)}>
        {isBusy ? t('Downloading …') : t('Download CSV')}
      </button>
      <button
        type="button"
        disabled={isBusy}
        onClick={() => void download((text) => forSpreadsheet(text, rules))}
      >
        {t('For Excel')}
      </button>
      {messages.length > 0 && <Failure messages={messages} />}
    </>
  )
}

const figureNames = new Set<string>([
  ...Object.entries(columns).flatMap(([name, { isFigure: is }]) => (is ? [name] : [])),
  'SECONDS_TO_PURCHASE',
  'UNITS',
])

function isFigure(name: string): boolean {
  return figureNames.has(name.replace(convertedPrefix, ''))
}

const dateNames = new Set(['DATE', 'PURCHASED_AT', 'TOUCHED_AT'])

function isDate(name: string): boolean {
  return dateNames.has(name)
}
