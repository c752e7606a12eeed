import { useState } from 'preact/hooks'
import { columns, type ColumnName } from '../columns.ts'
import { fileNameOf, forSpreadsheet, pickColumns, saveFile } from '../csv.ts'
import { decimalPoint } from '../format.ts'
import { messagesOf } from '../loaded.ts'
import { downloadCsv } from '../reports.ts'
import { useSession } from '../session.ts'
import type { View } from '../view.ts'
import { Failure } from './notices.tsx'
import { t } from '../language.ts'

interface DownloadButtonProps {
  readonly advertiserId: number
  readonly advertiser: string
  /** What the rows are, for the name of the file. */
  readonly rows: string
  readonly view: View
}

/** All pages of the table, with its order, filters and columns, for programs or for Excel. */
export function DownloadButton({ advertiserId, advertiser, rows, view }: DownloadButtonProps) {
  const { api } = useSession()
  const [isBusy, setIsBusy] = useState(false)
  const [messages, setMessages] = useState<readonly string[]>([])
  const download = async (finish: (text: string) => string) => {
    setIsBusy(true)
    setMessages([])
    try {
      const text = await downloadCsv(api, advertiserId, view)
      const name = fileNameOf({ ...view, advertiser, rows })
      saveFile(name, finish(pickColumns(text, withCurrency(view.columns))))
    } catch (error) {
      setMessages(messagesOf(error))
    }
    setIsBusy(false)
  }
  const rules = { decimalPoint: decimalPoint(), isFigure }
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

/** Amounts without their currency mean nothing once the file has left the page. */
function withCurrency(names: readonly ColumnName[]): readonly ColumnName[] {
  return names.includes('CURRENCY') ? names : [...names, 'CURRENCY']
}

const figureNames = new Set<string>(
  Object.entries(columns).flatMap(([name, { isFigure: is }]) => (is ? [name] : []))
)

function isFigure(name: string): boolean {
  return figureNames.has(name)
}
