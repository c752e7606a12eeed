import type { AdvertiserAccount } from '../../../src/contract/me.ts'
import { columns, columnsOfTab, isSortable, type ColumnName, type Row } from '../columns.ts'
import { fileNameOf, pickColumns } from '../csv.ts'
import { formatNumber, nothing } from '../format.ts'
import type { GroupRows } from '../group-rows.ts'
import { noFilters, tabNames, tabs } from '../groups.ts'
import { downloadCsv, useGroups } from '../reports.ts'
import { addressOf, withQuery, type Changes } from '../router.ts'
import { carriedOn, tableRequestOf, type View } from '../view.ts'
import { Crumbs } from './crumbs.tsx'
import { convertedPrefix, DownloadButton } from './download-button.tsx'
import { Figure } from './figure.tsx'
import { Empty, Stages } from './notices.tsx'
import { OriginalAmounts } from './original-amounts.tsx'
import { Pager } from './pager.tsx'
import { Popup } from './popup.tsx'
import { Table, type TableColumn } from './table.tsx'
import { t } from '../language.ts'

export interface GroupTableProps {
  readonly advertiserId: number
  readonly account: AdvertiserAccount
  readonly view: View
  readonly query: URLSearchParams
  readonly onChange: (changes: Changes) => void
}

/** The figures by campaign, ad group and so on, in the pages of the service, with their sums on top. */
export function GroupTable({ advertiserId, account, view, query, onChange }: GroupTableProps) {
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
        {(value) => <Rows {...{ groups: value, advertiserId, view, query, onChange }} />}
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

function Rows({ groups, advertiserId, view, query, onChange }: RowsProps) {
  if (groups.rows.length === 0) return <NoRows view={view} onChange={onChange} />
  const sort = (name: string) => {
    const isDescending = view.orderBy === name ? !view.isDescending : isFigure(name)
    onChange({ sort: name, order: isDescending ? 'desc' : 'asc', page: null })
  }
  const { totals, originals, totalRows: count } = groups
  const isConverted = originals !== null
  const shown = { advertiserId, view, query, totals, count, isConverted }
  const columnsShown = view.columns.map((name) => columnOf(name, shown))
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
  if (name !== tabs[shown.view.tab].name) return { ...plain, cell: print }
  return {
    ...plain,
    cell: (row) =>
      row === shown.totals ? (
        t('Total ({{rows}})', { rows: formatNumber(shown.count) })
      ) : (
        <Name {...{ row, shown }} />
      ),
  }
}

interface NameProps {
  readonly row: Row
  readonly shown: Shown
}

/** Leads one level down, or to the page of the product; without an id there is nowhere to lead. */
function Name({ row, shown: { advertiserId, view, query } }: NameProps) {
  const { name, down } = tabs[view.tab]
  const text = row[name]
  if (down === null) {
    const gtin = row['GTIN'] ?? ''
    const kept = carriedOn(query, ['chart', 'compare', 'metric'])
    const title = text === '' || text === null ? gtin : text
    return (
      <a class="title" href={addressOf(['advertisers', advertiserId, 'products', gtin], kept)}>
        {title}
      </a>
    )
  }
  const value = row[down.value] ?? ''
  if (value === '') return <span class="muted">{down.nameless}</span>
  const next = withQuery(query, {
    group: down.tab,
    [down.filter]: [value],
    page: null,
    columns: null,
  })
  return (
    <a class="title" href={addressOf(['advertisers', advertiserId, 'performance'], next)}>
      {text === '' ? t('No name ({{value}})', { value }) : text}
    </a>
  )
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

function ColumnPicker({ view, onChange }: Pick<GroupTableProps, 'view' | 'onChange'>) {
  const [, ...choices] = columnsOfTab(view.tab)
  const toggle = (name: ColumnName) => {
    const next = choices.filter((one) => (one === name) !== view.columns.includes(one))
    // A table needs more than names.
    if (next.length > 0) onChange({ columns: next.join(',') })
  }
  return (
    <Popup summary={t('Columns')}>
      <fieldset>
        <legend class="unseen">{t('Columns of the table')}</legend>
        {choices.map((name) => (
          <label key={name}>
            <input
              type="checkbox"
              checked={view.columns.includes(name)}
              onChange={() => toggle(name)}
            />
            {columns[name].label}
          </label>
        ))}
        <button type="button" onClick={() => onChange({ columns: choices.join(',') })}>
          {t('All')}
        </button>
        <button type="button" onClick={() => onChange({ columns: null })}>
          {t('Default')}
        </button>
      </fieldset>
    </Popup>
  )
}
