import { Failure, Loading } from '../components/notices.tsx'
import { t } from '../language.ts'
import { useLoaded } from '../loaded.ts'

/** The documents that come with the dashboard, by the name in the address. Each is loaded when it is opened. */
const documents = {
  advertiser: () => import('../../../docs/guides/advertiser.md?page'),
  publisher: () => import('../../../docs/guides/publisher.md?page'),
  'ad-server': () => import('../../../docs/guides/ad-server.md?page'),
  client: () => import('../../../docs/guides/client.md?page'),
  operator: () => import('../../../docs/guides/operator.md?page'),
  changelog: () => import('../../../CHANGELOG.md?page'),
} as const

export type DocumentName = keyof typeof documents

export function isDocument(name: string | undefined): name is DocumentName {
  return name !== undefined && Object.hasOwn(documents, name)
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
      // Made from our own files when the dashboard was built.
      dangerouslySetInnerHTML={{ __html: loaded.value }}
    />
  )
}
