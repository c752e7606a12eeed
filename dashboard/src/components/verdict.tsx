import { useEffect, useState } from 'preact/hooks'
import type { Alert } from '../../../src/contract/watch.ts'
import { formatDuration, formatInstant } from '../format.ts'
import { sectionOf, type Block, type Inline } from '../runbook.ts'
import { summaryOf } from '../service-words.ts'
import { useSession } from '../session.ts'
import { locale, t } from '../language.ts'

/** A page that has had no answer for so long is no longer to be trusted. */
export const silenceMsMax = 10_000

interface VerdictProps {
  /** Null: the service says nothing of it. */
  readonly alerts: readonly Alert[] | null
  /** Since the last answer. */
  readonly silenceMs: number
}

/** One line that says whether anything is wrong, and below it what. */
export function Verdict({ alerts, silenceMs }: VerdictProps) {
  const tone = toneOf(alerts, silenceMs)
  const words = wordsOf(alerts, silenceMs)
  useEffect(() => markTab(tone, words), [tone, words])
  return (
    <section class={`verdict ${tone}`} aria-label={t('Verdict')}>
      <p class="verdict-line">
        <span class="verdict-dot" aria-hidden="true" />
        {/* Told once when it changes; the seconds would be told each time. */}
        <strong role="status">{words}</strong>{' '}
        <span class="muted">
          {silenceMs > silenceMsMax
            ? t('for {{duration}}: what is below may be over, or worse by now', {
                duration: formatDuration(silenceMs),
              })
            : t('asked every 3 seconds')}
        </span>
      </p>
      {(alerts ?? []).map((alert) => (
        <Trouble key={alert.name} alert={alert} />
      ))}
    </section>
  )
}

type Tone = 'well' | 'odd' | 'bad'

function toneOf(alerts: VerdictProps['alerts'], silenceMs: number): Tone {
  if (silenceMs > silenceMsMax) return 'bad'
  if (alerts === null || alerts.length === 0) return 'well'
  return alerts.some(({ severity }) => severity === 'page') ? 'bad' : 'odd'
}

function wordsOf(alerts: VerdictProps['alerts'], silenceMs: number): string {
  if (silenceMs > silenceMsMax) return t('No answer from the service')
  if (alerts === null) return t('This node does not judge itself')
  if (alerts.length === 0) return t('All is well')
  return alerts.length === 1
    ? t('One thing is wrong')
    : t('{{count}} things are wrong', { count: alerts.length })
}

function Trouble({ alert }: { readonly alert: Alert }) {
  const [blocks, setBlocks] = useState<readonly Block[] | null>(null)
  const open = (event: { readonly currentTarget: HTMLDetailsElement }) => {
    if (!event.currentTarget.open || blocks !== null) return
    // Loaded when it is asked for, since it is as long as a page of code.
    import('../../../docs/runbook.md?raw')
      .then(({ default: runbook }) => setBlocks(sectionOf(runbook, alert.name)))
      .catch(() => setBlocks([]))
  }
  const { clock } = useSession().api
  const sinceMs = Math.max(0, clock.now().getTime() - Date.parse(alert.since))
  return (
    <details class="trouble" onToggle={open}>
      <summary>
        <span class={`badge ${alert.severity}`}>
          {alert.severity === 'page' ? t('Now') : t('Soon')}
        </span>{' '}
        {summaryOf(alert)}{' '}
        <span class="muted" title={formatInstant(alert.since)}>
          {t('for {{duration}}', { duration: formatDuration(sinceMs) })}
        </span>
      </summary>
      <div class="runbook" lang="en">
        {blocks === null ? (
          <p class="muted" lang={locale()}>
            {t('Loading the runbook …')}
          </p>
        ) : blocks.length === 0 ? (
          <p lang={locale()}>{t('See {{alert}} in docs/runbook.md.', { alert: alert.name })}</p>
        ) : (
          blocks.map((block, index) => <Shown key={index} block={block} />)
        )}
      </div>
    </details>
  )
}

function Shown({ block }: { readonly block: Block }) {
  if (block.kind === 'paragraph') {
    return (
      <p>
        <Inlines inlines={block.inlines} />
      </p>
    )
  }
  return (
    <ul>
      {block.items.map((inlines, index) => (
        <li key={index}>
          <Inlines inlines={inlines} />
        </li>
      ))}
    </ul>
  )
}

function Inlines({ inlines }: { readonly inlines: readonly Inline[] }) {
  return (
    <>
      {inlines.map(({ kind, text }, index) => {
        if (kind === 'strong') return <strong key={index}>{text}</strong>
        return kind === 'code' ? <code key={index}>{text}</code> : text
      })}
    </>
  )
}

const plainIcon = document.querySelector<HTMLLinkElement>('link[rel=icon]')?.href ?? ''
const colours = { well: '#0f766e', odd: '#b7791f', bad: '#b91c1c' } as const

/** A tab in the background shows by its title and its icon that something is wrong. Returns what takes it back. */
function markTab(tone: Tone, words: string): () => void {
  const icon = document.querySelector<HTMLLinkElement>('link[rel=icon]')
  const { title } = document
  if (tone !== 'well') document.title = `${words} · ${title}`
  if (icon !== null) icon.href = plainIcon.replace('%230f766e', encodeURIComponent(colours[tone]))
  return () => {
    document.title = title
    if (icon !== null) icon.href = plainIcon
  }
}
