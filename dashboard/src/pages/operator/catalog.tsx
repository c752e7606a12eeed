import type { PageKind } from '../../../../src/contract/catalog-pages.ts'
import { CatalogFile } from '../../components/catalog-file.tsx'
import { Empty, Stages } from '../../components/notices.tsx'
import { Table, type TableColumn } from '../../components/table.tsx'
import { nothing } from '../../format.ts'
import { useLoaded } from '../../loaded.ts'
import type { OperatorPageProps } from '../../page-table.ts'
import { addressOf, goTo } from '../../router.ts'
import { useSession } from '../../session.ts'
import { wordsOf } from '../../words.ts'
import { t } from '../../language.ts'

const kinds: readonly PageKind[] = [
  'advertisers',
  'publishers',
  'markets',
  'campaigns',
  'ad-groups',
  'creative-sizes',
  'assets',
  'assignments',
]

type Entry = Readonly<Record<string, unknown>>

interface CatalogPage {
  readonly entries: readonly Entry[]
  readonly next: string | null
}

/** The catalog as it was loaded, one kind of entries at a time. */
export function Catalog({ query, rest }: OperatorPageProps) {
  const { api } = useSession()
  const kind = kinds.find((known) => known === rest[0]) ?? 'advertisers'
  const after = query.get('after')
  const parameters = new URLSearchParams({ limit: '100', ...(after !== null && { after }) })
  const path = `admin/v1/catalog/${kind}?${parameters}`
  const page = useLoaded(path, async (signal) => await api.get<CatalogPage>(path, signal))
  return (
    <>
      <div class="head">
        <h1>{t('Catalog')}</h1>
      </div>
      <div class="bar">
        <label>
          <span>{t('Kind')}</span>
          <select
            value={kind}
            onChange={(event) =>
              goTo(addressOf(['operator', 'catalog', event.currentTarget.value]))
            }
          >
            {kinds.map((one) => (
              <option key={one} value={one}>
                {wordsOf(one)}
              </option>
            ))}
          </select>
        </label>
      </div>
      <details class="card">
        <summary>{t('Load a bundle')}</summary>
        <CatalogFile onLoaded={page.state === 'ready' ? page.refresh : undefined} />
      </details>
      <section class="card" aria-label={wordsOf(kind)}>
        <Stages loaded={page} what={t('the entries')}>
          {(value) => <Entries page={value} kind={kind} isFirst={after === null} />}
        </Stages>
      </section>
    </>
  )
}

interface EntriesProps {
  readonly page: CatalogPage
  readonly kind: PageKind
  readonly isFirst: boolean
}

function Entries({ page: { entries, next }, kind, isFirst }: EntriesProps) {
  if (entries.length === 0) return <Empty>{t('There are no entries of this kind.')}</Empty>
  const names = [...new Set(entries.flatMap((entry) => Object.keys(entry)))]
  const columns: readonly TableColumn<Entry>[] = names.map((name) => ({
    name,
    label: wordsOf(name),
    cell: (entry) => printValue(entry[name]),
  }))
  const address = (after?: string) =>
    addressOf(
      ['operator', 'catalog', kind],
      new URLSearchParams(after === undefined ? {} : { after })
    )
  return (
    <>
      <Table
        caption={wordsOf(kind)}
        columns={columns}
        rows={entries}
        keyOf={(_entry, index) => String(index)}
      />
      <nav class="pager" aria-label={t('Pages of the catalog')}>
        {!isFirst && <a href={address()}>{t('First page')}</a>}
        {next !== null && <a href={address(next)}>{t('Next page')}</a>}
      </nav>
    </>
  )
}

/** Plain values as they are; lists by how long they are, as their place is the bundle. */
function printValue(value: unknown): string {
  if (value === undefined || value === null) return nothing
  if (Array.isArray(value)) return t('{{count}} entries', { count: value.length })
  if (typeof value === 'boolean') return value ? t('yes') : t('no')
  return typeof value === 'string' ? value : JSON.stringify(value)
}
