import { useState } from 'preact/hooks'
import type { CatalogResult } from '../../../src/contract/catalog-bundle.ts'
import { messagesOf } from '../loaded.ts'
import { useSession } from '../session.ts'
import { Failure } from './notices.tsx'
import { t } from '../language.ts'

type Stage =
  | { readonly name: 'none' }
  | { readonly name: 'busy'; readonly words: string }
  | { readonly name: 'checked'; readonly bundle: unknown; readonly result: CatalogResult }
  | { readonly name: 'loaded'; readonly result: CatalogResult }
  | { readonly name: 'failed'; readonly messages: readonly string[] }

/** Takes a bundle of the catalog from a file: checks it first, and loads it when told to. */
export function CatalogFile({ onLoaded }: { readonly onLoaded?: (() => void) | undefined }) {
  const { api } = useSession()
  const [stage, setStage] = useState<Stage>({ name: 'none' })
  const run = (words: string, work: () => Promise<Stage>) => {
    setStage({ name: 'busy', words })
    work()
      .then(setStage)
      .catch((error: unknown) => setStage({ name: 'failed', messages: messagesOf(error) }))
  }
  const check = (file: File) =>
    run(t('Checking the file …'), async () => {
      const bundle = parseBundle(await file.text())
      if (bundle === undefined) {
        return {
          name: 'failed',
          messages: [t('{{file}} is not JSON. Nothing was changed.', { file: file.name })],
        }
      }
      const result = await api.put<CatalogResult>('admin/v1/catalog?dryRun=true', bundle)
      return { name: 'checked', bundle, result }
    })
  const load = (bundle: unknown) =>
    run(t('Loading the catalog …'), async () => {
      const result = await api.put<CatalogResult>('admin/v1/catalog', bundle)
      onLoaded?.()
      return { name: 'loaded', result }
    })
  return (
    <div class="catalog-file">
      <label>
        <span>{t('Catalog file (JSON)')}</span>
        <input
          type="file"
          accept=".json,application/json"
          onChange={({ currentTarget }) => {
            const [file] = currentTarget.files ?? []
            if (file !== undefined) check(file)
            // The same file, mended, can be chosen again.
            currentTarget.value = ''
          }}
        />
      </label>
      <div role="status">
        {stage.name === 'busy' && <p class="muted">{stage.words}</p>}
        {stage.name === 'checked' && (
          <p>
            {t('The file is right: {{content}}. Entries that it does not name stay as they are.', {
              content: describe(stage.result),
            })}{' '}
            <button type="button" class="primary" onClick={() => load(stage.bundle)}>
              {t('Load it')}
            </button>
          </p>
        )}
        {stage.name === 'loaded' && (
          <p>{t('Loaded: {{content}}.', { content: describe(stage.result) })}</p>
        )}
      </div>
      {stage.name === 'failed' && <Failure messages={stage.messages} />}
    </div>
  )
}

function parseBundle(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function describe({ entries, products, trustChanges = [] }: CatalogResult): string {
  const content = t('{{entries}} and {{products}}', {
    entries: t('{{count}} entries', { count: entries }),
    products: t('{{count}} products', { count: products }),
  })
  if (trustChanges.length === 0) return content
  const trust = t('deliveries of {{count}} publishers are believed by other rules than before', {
    count: trustChanges.length,
  })
  return `${content}; ${trust}`
}
