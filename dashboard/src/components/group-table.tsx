import type { AdvertiserAccount } from '../../../src/contract/me.ts'
import { columns, isSortable, type ColumnName, type Row } from '../columns.ts'
import { fileNameOf, pickColumns } from '../csv.ts'
import { downloadCsv } from '../downloads.ts'
import { formatNumber, nothing } from '../format.ts'
import { comparedColumn } from '../group-base.ts'
import type { GroupRows } from '../group-rows.ts'
import { noFilters, tabNames, tabs } from '../groups.ts'
import { useGroups } from '../reports.ts'
import { addressOf, withQuery, type Changes } from '../router.ts'
import { convertedPrefix } from '../shown-currency.ts'
import { tableRequestOf, type View } from '../view.ts'
import { ColumnPicker } from './column-picker.tsx'
import { Crumbs } from './crumbs.tsx'
import { DownloadButton } from './download-button.tsx'
import { Figure } from './figure.tsx'
import { useChangeColumn } from './group-change.tsx'
import { GroupName } from './group-name.tsx'
import { Empty, Stages } from './notices.tsx'
import { OriginalAmounts } from './original-amounts.tsx'
import { Pager } from './pager.tsx'
import { Table, type TableColumn } from './table.tsx'
import type { TileBase } from './tiles.tsx'
import { t } from '../language.ts'

export interface GroupTableProps {
  readonly advertiserId: number
  readonly account: AdvertiserAccount
  readonly view: View
  readonly query: URLSearchParams
  /** What the totals are compared with. */
  readonly base: TileBase
  readonly onChange: (changes: Changes) => void
}

/** The figures by campaign, ad group and so on, in the pages of the service, with their sums on top. */
export function GroupTable(props: GroupTableProps) {
  const { advertiserId, account, view, query, base, onChange } = props
  const groups = useGroups(advertiserId, tableRequestOf(view))
  const { label } = tabs[view.tab]
  return (
    <section class="card group-table" aria-label={label}>
      <div class="card-head">
        <h2 class="unseen">{label}</h2>
        <Tabs {...{ advertiserId, view, query }} />
        <div class="actions">
          <ColumnPicker view={view} onChange={onChange} />
          <DownloadButton
            name={fileNameOf({ ...view, advertiser: account.name, rows: view.tab })}
            load={async (api) =>
              pickColumns(await downloadCsv(api, advertiserId, view), namesInFile(view.columns))
            }
          />
        </div>
      </div>
      <Crumbs {...{ account, view, query }} />
      <Stages loaded={groups} what={t('the table')}>
        {(value) => <Rows {...{ groups: value, advertiserId, view, query, base, onChange }} />}
      </Stages>
    </section>
  )
}

/**
 * Amounts without their currency mean nothing once the file has left the page. Of both names of a column the file has
 * the one that says whether it is converted.
 */
function namesInFile(names: readonly ColumnName[]): readonly string[] {
  const all = names.includes('CURRENCY') ? names : [...names, 'CURRENCY']
  const both = all.flatMap((name) => [name, `${convertedPrefix}${name}`])
  return [...both, 'CONVERTED_FROM', 'WITHOUT_RATE']
}

/** What the figures are grouped by is a part of the address, so the tabs are links. */
function Tabs({
  advertiserId,
  view,
  query,
}: Pick<GroupTableProps, 'advertiserId' | 'view' | 'query'>) {
  return (
    <nav class="tabs" aria-label={t('Group by')}>
      {tabNames.map((name) => {
        const next = withQuery(query, {
          group: name,
          page: null,
          columns: null,
          sort: null,
          order: null,
        })
        return (
          <a
            key={name}
            href={addressOf(['advertisers', advertiserId, 'performance'], next)}
            aria-current={name === view.tab ? 'page' : undefined}
          >
            {tabs[name].label}
          </a>
        )
      })}
    </nav>
  )
}

interface RowsProps extends Omit<GroupTableProps, 'account'> {
  readonly groups: GroupRows
}

function Rows({ groups, advertiserId, view, query, base, onChange }: RowsProps) {
  const changeColumn = useChangeColumn({ groups, advertiserId, view, base })
  if (groups.rows.length === 0) return <NoRows view={view} onChange={onChange} />
  const sort = (name: string) => {
    const isDescending = view.orderBy === name ? !view.isDescending : isFigure(name)
    onChange({ sort: name, order: isDescending ? 'desc' : 'asc', page: null })
  }
  const { totals, originals, totalRows: count } = groups
  const isConverted = originals !== null
  const shown = { advertiserId, view, query, totals, count, isConverted }
  // A change stands behind its figure.
  const columnsShown = view.columns.flatMap((name) => [
    columnOf(name, shown),
    ...(name === comparedColumn && changeColumn !== null ? [changeColumn] : []),
  ])
  return (
    <>
      <Table<Row>
        caption={tabs[view.tab].label}
        columns={originals === null ? columnsShown : [...columnsShown, originalsColumn(originals)]}
        rows={groups.rows}
        totals={totals}
        keyOf={(_row, index) => String(index)}
        sorting={{ by: view.orderBy, isDescending: view.isDescending, isSortable, onSort: sort }}
      />
      <Pager
        page={view.page}
        pageSize={view.pageSize}
        totalRows={groups.totalRows}
        onChange={(page, pageSize) =>
          onChange({ page: page === 0 ? null : String(page), size: String(pageSize) })
        }
      />
    </>
  )
}

function isFigure(name: string): boolean {
  return isSortable(name) && columns[name].isFigure
}

interface Shown {
  readonly advertiserId: number
  readonly view: View
  readonly query: URLSearchParams
  readonly totals: Row | undefined
  readonly count: number
  readonly isConverted: boolean
}

/** Amounts, which are about as much in another currency. */
const amounts: ReadonlySet<ColumnName> = new Set([
  'AD_SPEND_REVENUE',
  'CONVERSION_VALUE',
  'COST_PER_CLICK',
])

function originalsColumn(originals: NonNullable<GroupRows['originals']>): TableColumn<Row> {
  return {
    name: 'CONVERTED_FROM',
    label: t('Converted from'),
    cell: (row) => <OriginalAmounts {...(originals.get(row) ?? { others: [], withoutRate: [] })} />,
  }
}

function columnOf(name: ColumnName, shown: Shown): TableColumn<Row> {
  const { advertiserId, view, query } = shown
  const { label, isFigure: isOfFigures, print } = columns[name]
  const plain = { name, label, term: name, isFigure: isOfFigures }
  if (isOfFigures) {
    const isAbout = shown.isConverted && amounts.has(name)
    const printed = (row: Row) => {
      const text = print(row)
      return isAbout && text !== nothing ? `≈ ${text}` : text
    }
    return { ...plain, cell: (row) => <Figure exact={row[name]} shown={printed(row)} /> }
  }
  if (name !== tabs[view.tab].name) return { ...plain, cell: print }
  return {
    ...plain,
    cell: (row) =>
      row === shown.totals ? (
        t('Total ({{rows}})', { rows: formatNumber(shown.count) })
      ) : (
        <GroupName {...{ row, advertiserId, view, query }} />
      ),
  }
}

function NoRows({ view, onChange }: Pick<GroupTableProps, 'view' | 'onChange'>) {
  if (view.page > 0) {
    return (
      <Empty>
        {t('There is no such page.')}{' '}
        <button type="button" onClick={() => onChange({ page: null })}>
          {t('To the first page')}
        </button>
      </Empty>
    )
  }
  const isFiltered = Object.values(view.filters).some((values) => values.length > 0)
  if (!isFiltered) return <Empty>{t('There are no figures in this period.')}</Empty>
  return (
    <Empty>
      {t('Nothing matches these filters.')}{' '}
      <button type="button" onClick={() => onChange({ ...noFilters, page: null })}>
        {t('Clear the filters')}
      </button>
    </Empty>
  )
}
