import { Failure, Loading } from '../components/notices.tsx'
import type { DocumentName } from '../../document-names.ts'
import { t } from '../language.ts'
import { useLoaded } from '../loaded.ts'

/** Each is loaded when it is opened. */
const documents: Readonly<Record<DocumentName, () => Promise<{ readonly default: string }>>> = {
  advertiser: () => import('../../../docs/guides/advertiser.md?page'),
  publisher: () => import('../../../docs/guides/publisher.md?page'),
  'ad-server': () => import('../../../docs/guides/ad-server.md?page'),
  client: () => import('../../../docs/guides/client.md?page'),
  operator: () => import('../../../docs/guides/operator.md?page'),
  changelog: () => import('../../../CHANGELOG.md?page'),
}

export function Document({ name }: { readonly name: DocumentName }) {
  const loaded = useLoaded(`document ${name}`, async () => (await documents[name]()).default)
  if (loaded.state === 'loading') return <Loading what={t('the document')} />
  if (loaded.state === 'failed') {
    return <Failure messages={loaded.messages} onRetry={loaded.retry} />
  }
  return (
    <article
      class="card document"
      lang="en"
      // Its texts never change, so a translation cannot leave old ones behind (`index.html`).
      translate
      // Made from our own files when the dashboard was built.
      dangerouslySetInnerHTML={{ __html: loaded.value }}
    />
  )
}
