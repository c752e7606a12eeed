// The purchases of a page, one row each; the lines of a purchase with several are opened in place.
import { useState } from 'preact/hooks'
import { formatCount, formatDay, formatDuration, formatMoney, nothing } from '../format.ts'
import { t } from '../language.ts'
import { commonOf, ordersOf, type CreditedLine, type Order } from '../orders.ts'
import { addressOf } from '../router.ts'
import { ruleWords } from '../words.ts'
import { Figure } from './figure.tsx'
import { Table, type TableColumn } from './table.tsx'

interface OrderTableProps {
  readonly advertiserId: number
  readonly query: URLSearchParams
  readonly rows: readonly CreditedLine[]
}

interface Row {
  readonly key: string
  readonly order: Order
  /** Null in the row of the order itself. */
  readonly line: CreditedLine | null
}

export function OrderTable({ advertiserId, query, rows }: OrderTableProps) {
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set())
  const toggle = (key: string) => {
    const next = new Set(opened)
    if (!next.delete(key)) next.add(key)
    setOpened(next)
  }
  const shown = ordersOf(rows).flatMap((order): readonly Row[] => {
    const head = { key: order.key, order, line: null }
    if (!opened.has(order.key)) return [head]
    const lines: readonly Row[] = order.lines.map((line) => ({
      key: `${order.key} ${line['LINE']}`,
      order,
      line,
    }))
    return lines.toSpliced(0, 0, head)
  })
  const explained = ({ first }: Order) =>
    addressOf(
      [
        'advertisers',
        advertiserId,
        'purchases',
        first['PUBLISHER_ID'] ?? '',
        first['TRANSACTION_ID'] ?? '',
      ],
      query
    )
  return (
    <Table
      caption={t('Credited purchases')}
      columns={[
        {
          name: 'TRANSACTION_ID',
          label: t('Order'),
          cell: ({ order, line }) =>
            line === null ? (
              <OrderId order={order} address={explained(order)} />
            ) : (
              <span class="muted">{t('Line {{line}}', { line: line['LINE'] ?? '' })}</span>
            ),
        },
        {
          name: 'PURCHASED_GTIN',
          label: t('Bought'),
          cell: ({ order, line }) =>
            line === null && order.lines.length > 1 ? (
              <button
                type="button"
                class="link"
                aria-expanded={opened.has(order.key)}
                onClick={() => toggle(order.key)}
              >
                {t('{{count}} lines', { count: order.lines.length })}
              </button>
            ) : (
              <span class="code">{(line ?? order.first)['PURCHASED_GTIN']}</span>
            ),
        },
        ...columns,
      ]}
      rows={shown}
      keyOf={({ key }) => key}
    />
  )
}

interface OrderIdProps {
  readonly order: Order
  readonly address: string
}

/** Without a transaction id no purchase can be asked for. */
function OrderId({ order, address }: OrderIdProps) {
  const id = order.first['TRANSACTION_ID'] ?? ''
  if (id === '') return <span class="muted">{nothing}</span>
  return (
    <a class="code" href={address}>
      {id}
    </a>
  )
}

/** Lines of one purchase may be of several markets, and so of several days and currencies. */
function shownOf({ order, line }: Row, name: string, print: (value: string) => string): string {
  const value = line === null ? commonOf(order, name) : (line[name] ?? '')
  return value === null ? t('several') : print(value)
}

const asItIs = (value: string) => value

const columns: readonly TableColumn<Row>[] = [
  {
    name: 'CONVERSION_VALUE',
    label: t('Value'),
    isFigure: true,
    cell: ({ order, line }) => {
      const exact = line === null ? order.value : line['CONVERSION_VALUE']
      return <Figure exact={exact} shown={formatMoney(exact, (line ?? order.first)['CURRENCY'])} />
    },
  },
  {
    name: 'UNITS',
    label: t('Units'),
    isFigure: true,
    cell: ({ order, line }) => {
      const exact = line === null ? order.units : line['UNITS']
      return <Figure exact={exact} shown={formatCount(exact)} />
    },
  },
  { name: 'DATE', label: t('Day'), cell: (row) => shownOf(row, 'DATE', formatDay) },
  {
    name: 'RULE',
    label: t('Credited for'),
    cell: (row) => shownOf(row, 'RULE', ruleWords),
  },
  {
    name: 'SECONDS_TO_PURCHASE',
    label: t('Before the purchase'),
    isFigure: true,
    cell: (row) =>
      shownOf(row, 'SECONDS_TO_PURCHASE', (seconds) => formatDuration(Number(seconds) * 1_000)),
  },
  {
    name: 'PUBLISHER_NAME',
    label: t('Publisher'),
    cell: (row) => shownOf(row, 'PUBLISHER_NAME', asItIs),
  },
  { name: 'MARKET', label: t('Market'), cell: (row) => shownOf(row, 'MARKET', asItIs) },
]
