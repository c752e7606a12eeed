import type { ComponentChildren } from 'preact'
import type { KeyList } from '../../../src/contract/admin.ts'
import { latestOf, useLoaded } from '../loaded.ts'
import { addressOf } from '../router.ts'
import { useSession } from '../session.ts'
import { CatalogFile } from './catalog-file.tsx'
import { CopyButton } from './copy-button.tsx'
import { phrase, t } from '../language.ts'

interface FirstStepsProps {
  readonly hasCatalog: boolean
}

const load = 'shelftrace catalog load catalog.json'
const mint = 'shelftrace links mint --json ads.json > links.json'
// By its own name curl is a bot, whose events do not count.
const send = `curl -A 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0' -X POST "$(node -p 'require("./links.json").links[0].impressionUrl')"`

/** What an operator does with a new installation, until the first event has come. Each step is ticked by the service. */
export function FirstSteps({ hasCatalog }: FirstStepsProps) {
  const { api } = useSession()
  const keys = useLoaded('admin/v1/keys', (signal) => api.get<KeyList>('admin/v1/keys', signal))
  const hasKeys = (latestOf(keys)?.keys.length ?? 0) > 0
  return (
    <section class="card" aria-label={t('First steps')}>
      <h2>{t('First steps')}</h2>
      <p>{t('No event has come yet. Five steps lead to the first report.')}</p>
      <ol class="steps">
        <Step title={t('Load the catalog')} isDone={hasCatalog}>
          {phrase(
            'Markets, publishers with their sites, advertisers, campaigns, ad groups and products. An example is in the README; {{command}} does the same.',
            { command: <code>{load}</code> }
          )}
          <CatalogFile />
        </Step>
        <Step title={t('Give people and programs their keys')} isDone={hasKeys}>
          {phrase(
            'Invite people by a link, and make keys for the ad server and the publishers: {{keys}}.',
            { keys: <a href={addressOf(['operator', 'keys'])}>{t('Keys')}</a> }
          )}
        </Step>
        <Step title={t('Mint a tracking link')} isDone={false}>
          {t(
            'The ad server does it for each ad that it serves; for a trial, the command line does.'
          )}
          <Command text={mint} />
        </Step>
        <Step title={t('Send a first event')} isDone={false}>
          {t('This page notices it within seconds.')}
          <Command text={send} />
        </Step>
        <Step title={t('See the report')} isDone={false}>
          {t('Choose the advertiser in the menu.')}
        </Step>
      </ol>
    </section>
  )
}

interface StepProps {
  readonly title: string
  readonly isDone: boolean
  readonly children: ComponentChildren
}

function Step({ title, isDone, children }: StepProps) {
  return (
    <li class={isDone ? 'done' : undefined}>
      <strong>{title}</strong> {isDone && <span class="good">{t('Done')}</span>}
      {!isDone && <div>{children}</div>}
    </li>
  )
}

function Command({ text }: { readonly text: string }) {
  return (
    <p class="command">
      <code>{text}</code> <CopyButton text={text} />
    </p>
  )
}
