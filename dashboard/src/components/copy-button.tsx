import { useState } from 'preact/hooks'
import { t } from '../language.ts'

interface CopyButtonProps {
  readonly text: string
  readonly label?: string
}

/** Copies a text, and says so. Pages served over plain HTTP have no clipboard; there the old way still works. */
export function CopyButton({ text, label = t('Copy') }: CopyButtonProps) {
  const [outcome, setOutcome] = useState<'none' | 'copied' | 'failed'>('none')
  const copy = async () => setOutcome((await copyText(text)) ? 'copied' : 'failed')
  return (
    <>
      <button type="button" onClick={() => void copy()}>
        {label}
      </button>
      <span role="status" class="muted">
        {outcome === 'copied' && t('Copied.')}
        {outcome === 'failed' &&
          t('The browser does not allow copying: select the text and copy it.')}
      </span>
    </>
  )
}

async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return copyBySelection(text)
  }
}

function copyBySelection(text: string): boolean {
  const area = document.createElement('textarea')
  area.value = text
  area.setAttribute('readonly', '')
  area.className = 'off-screen'
  document.body.append(area)
  area.select()
  try {
    // Deprecated, and the only way where there is no clipboard.
    // oxlint-disable-next-line typescript/no-deprecated
    return document.execCommand('copy')
  } catch {
    return false
  } finally {
    area.remove()
  }
}
