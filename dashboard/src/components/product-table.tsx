import { useState } from 'preact/hooks'
import type { AdvertiserAccount } from '../../../src/contract/me.ts'
import type { JsonReport } from '../../../src/contract/report-json.ts'
import { columnNames, columns, isSortable, type ColumnName, type Row } from '../columns.ts'
import { pickColumns, saveFile } from '../csv.ts'
import { messagesOf } from '../loaded.ts'
import { downloadCsv, useReport } from '../reports.ts'
import { addressOf } from '../router.ts'
import { useSession } from '../session.ts'
import { carriedOn, tableRequestOf, type View } from '../view.ts'
import { Figure } from './figure.tsx'
import { FilterBar } from './filter-bar.tsx'
import { Empty, Failure, Stages } from './notices.tsx'
import { Pager } from './pager.tsx'
import { Popup } from './popup.tsx'
import { Table, type TableColumn } from './table.tsx'

interface ProductTableProps {
  readonly advertiserId: number
  readonly account: AdvertiserAccount
  readonly view: View
  readonly query: URLSearchParams
  readonly onChange: (changes: Readonly<Record<string, string | null>>) => void
}

/** The rows of the report, in the pages of the service. */
export function ProductTable({ advertiserId, account, view, query, onChange }: ProductTableProps) {
  const report = useReport(advertiserId, tableRequestOf(view))
  return (
    <section class="card" aria-label="Products">
      <div class="card-head">
        <h2>Products by campaign and ad group</h2>
        <div class="actions">
          <ColumnPicker view={view} onChange={onChange} />
          <DownloadButton advertiserId={advertiserId} view={view} />
        </div>
      </div>
      <FilterBar {...{ account, view, query, onChange }} />
      <Stages loaded={report} what="the products">
        {(value) => <Rows {...{ report: value, advertiserId, view, query, onChange }} />}
      </Stages>
    </section>
  )
}

interface RowsProps extends Omit<ProductTableProps, 'account'> {
  readonly report: JsonReport
}

function Rows({ report, advertiserId, view, query, onChange }: RowsProps) {
  if (report.rows.length === 0) return <NoRows view={view} onChange={onChange} />
  const sort = (name: string) => {
    const isDescending = view.orderBy === name ? !view.isDescending : columns[nameOf(name)].isFigure
    onChange({ sort: name, order: isDescending ? 'desc' : 'asc', page: null })
  }
  return (
    <>
      <Table
        caption="Products by campaign and ad group"
        columns={view.columns.map((name) => columnOf(name, { advertiserId, query }))}
        rows={report.rows}
        keyOf={(_row, index) => String(index)}
        sorting={{ by: view.orderBy, isDescending: view.isDescending, isSortable, onSort: sort }}
      />
      <Pager
        page={view.page}
        pageSize={view.pageSize}
        totalRows={report.totalRows}
        onChange={(page, pageSize) =>
          onChange({ page: page === 0 ? null : String(page), size: String(pageSize) })
        }
      />
    </>
  )
}

/** One of the table's own columns, which name the headings. */
function nameOf(name: string): ColumnName {
  return columnNames.find((known) => known === name) ?? 'GTIN'
}

interface Linked {
  readonly advertiserId: number
  readonly query: URLSearchParams
}

function columnOf(name: ColumnName, linked: Linked): TableColumn<Row> {
  const { label, isFigure, print } = columns[name]
  const plain = { name, label, isFigure }
  if (isFigure) {
    return { ...plain, cell: (row) => <Figure exact={row[name]} shown={print(row)} /> }
  }
  const isLink = name === 'PRODUCT_TITLE' || name === 'GTIN'
  if (!isLink) return { ...plain, cell: print }
  return {
    ...plain,
    cell: (row) => (
      <a href={productAddress(row, linked)} class={name === 'GTIN' ? 'code' : 'title'}>
        {print(row)}
      </a>
    ),
  }
}

function productAddress(row: Row, { advertiserId, query }: Linked): string {
  const period = carriedOn(query, ['chart', 'compare', 'metric'])
  return addressOf(['advertisers', advertiserId, 'products', row['GTIN'] ?? ''], period)
}

function NoRows({ view, onChange }: Pick<ProductTableProps, 'view' | 'onChange'>) {
  if (view.page > 0) {
    return (
      <Empty>
        There is no such page.{' '}
        <button type="button" onClick={() => onChange({ page: null })}>
          To the first page
        </button>
      </Empty>
    )
  }
  const isFiltered = Object.values(view.filters).some((value) => value !== '')
  if (!isFiltered) return <Empty>There are no products with figures in this period.</Empty>
  return (
    <Empty>
      No product matches these filters.{' '}
      <button
        type="button"
        onClick={() => onChange({ title: null, brand: null, market: null, gtin: null })}
      >
        Clear the filters
      </button>
    </Empty>
  )
}

function ColumnPicker({ view, onChange }: Pick<ProductTableProps, 'view' | 'onChange'>) {
  const toggle = (name: ColumnName) => {
    const next = columnNames.filter((one) => (one === name) !== view.columns.includes(one))
    // A table needs at least one column.
    if (next.length > 0) onChange({ columns: next.join(',') })
  }
  return (
    <Popup summary="Columns">
      <fieldset>
        <legend class="unseen">Columns of the table</legend>
        {columnNames.map((name) => (
          <label key={name}>
            <input
              type="checkbox"
              checked={view.columns.includes(name)}
              onChange={() => toggle(name)}
            />
            {columns[name].label}
          </label>
        ))}
        <button type="button" onClick={() => onChange({ columns: columnNames.join(',') })}>
          All
        </button>
        <button type="button" onClick={() => onChange({ columns: null })}>
          Default
        </button>
      </fieldset>
    </Popup>
  )
}

/** All pages of the table, with its order, filters and columns. */
function DownloadButton({ advertiserId, view }: Pick<ProductTableProps, 'advertiserId' | 'view'>) {
  const { api } = useSession()
  const [isBusy, setIsBusy] = useState(false)
  const [messages, setMessages] = useState<readonly string[]>([])
  const download = async () => {
    setIsBusy(true)
    setMessages([])
    try {
      const text = await downloadCsv(api, advertiserId, view)
      const name = `products-${advertiserId}-${view.startDate}-to-${view.endDate}.csv`
      saveFile(name, pickColumns(text, view.columns))
    } catch (error) {
      setMessages(messagesOf(error))
    }
    setIsBusy(false)
  }
  return (
    <>
      <button type="button" disabled={isBusy} onClick={() => void download()}>
        {isBusy ? 'Downloading …' : 'Download CSV'}
      </button>
      {messages.length > 0 && <Failure messages={messages} />}
    </>
  )
}
